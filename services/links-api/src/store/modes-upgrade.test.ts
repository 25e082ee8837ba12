import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { linksApiMigration } from "../service.ts";

test("the upgrade makes everything live, also on a test network, and later payments add up (rule MODE-1)", async () => {
  const rows = await queryAfterUpgrade(linksApiMigration, {
    firstNewFile: "0029-link-modes.sql",
    insertSql: `
      INSERT INTO links (id, user_id, version, status, to_amount, created_at, wallet_id,
        destination_address, token_id, chain_id, token_address, payment_reference)
      VALUES ('one', 'user_1', 1, 'active', 9, '2026-01-01Z', 'w', 'd', 'usdc-sepolia', '11155111',
        '0x', 'one');
      INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, reason,
        amount, token_address, chain_id, destination_address, occurred_at, first_seen_at, applied_at)
      SELECT id, 'one', 1, 's', id, 'settled', reason IS NULL, reason, 2, '0x', '11155111', 'd',
        '2026-01-01Z', '2026-01-01Z', CASE WHEN reason IS NULL THEN '2026-01-01Z'::timestamptz END
      FROM (VALUES ('tx_1', NULL), ('tx_2', 'expired')) AS reported (id, reason);
      INSERT INTO deposits (id, user_id, version, status, amount, token_address, chain_id,
        destination_address, source_transaction, occurred_at, first_seen_at)
      VALUES ('dep_1', 'user_1', 1, 'settled', 1, '0x', '11155111', 'd', '0xa', '2026-01-01Z',
        '2026-01-01Z');
      INSERT INTO ignored_fields (key_id, user_id, names, seen_at)
      VALUES ('key_1', 'user_1', '{a}', '2026-01-01Z')
    `,
    querySql: `
      SELECT 'link' AS what, id AS name, mode FROM links
      UNION ALL SELECT 'received', amount::text || '/' || payment_count, mode FROM received_by_day
      UNION ALL SELECT 'unapplied', payment_id, mode FROM unapplied_payments
      UNION ALL SELECT 'address', address, mode FROM paid_addresses
      UNION ALL SELECT 'deposit', id, mode FROM deposits
      UNION ALL SELECT 'ignored', key_id, mode FROM ignored_fields
      ORDER BY 1
    `,
  });
  expect(rows).toEqual([
    { what: "address", name: "d", mode: "live" },
    { what: "deposit", name: "dep_1", mode: "live" },
    { what: "ignored", name: "key_1", mode: "live" },
    { what: "link", name: "one", mode: "live" },
    { what: "received", name: "2/1", mode: "live" },
    { what: "unapplied", name: "tx_2", mode: "live" },
  ]);
});
