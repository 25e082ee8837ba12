import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { settlementListenerMigration } from "../service.ts";

const fillSql = `
  INSERT INTO watchers (chain_id, fencing_token, lease_until) VALUES ('1', 1, now());
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, state,
    is_orphaned, payment_link_id, seen_at)
  SELECT '1', hash, 0, block, '0x', now(), 'reference', '0x', '0x', 1, '0x', state, is_orphaned,
    link, now()
  FROM (VALUES
    (7, '0xseen', 'seen', false, 'one'),
    (8, '0xlost', 'seen', true, 'one'),
    (9, '0xsettled', 'settled', false, 'one'),
    (9, '0xunmatched', 'settled', false, NULL)
  ) AS found (block, hash, state, is_orphaned, link);
  INSERT INTO payments (id, source, source_id, payment_link_id, version, status, amount,
    token_address, chain_id, destination_address, occurred_at, first_seen_at)
  SELECT source_id, source, source_id, 'one', version, status, 1, '0x', '1', '0x', now(), now()
  FROM (VALUES
    ('evm:1', '0xseen:one:0', 1, 'processing'),
    ('evm:1', '0xlost:one:0', 1, 'processing'),
    ('evm:1', '0xsettled:one:0', 2, 'settled'),
    ('provider:acme', 'parked', 0, 'settled'),
    ('provider:acme', 'both', 0, 'processing'),
    ('provider:acme', 'failed', 2, 'failed')
  ) AS incoming (source, source_id, version, status);
`;

// Guards against an upgrade after which pending payments are never settled, resolved or published.
test("keeps open payments open after the upgrade, with their block or while they wait for a link", async () => {
  const openPayments = await queryAfterUpgrade(settlementListenerMigration, {
    firstNewFile: "0006-one-status.sql",
    insertSql: fillSql,
    querySql: `SELECT source_id AS name, block_number::int AS block, is_parked AS parked,
              is_processing AS processing
            FROM open_payments ORDER BY name`,
  });
  expect(openPayments).toEqual([
    { name: "0xlost:one:0", block: null, parked: false, processing: true },
    { name: "0xseen:one:0", block: 7, parked: false, processing: true },
    { name: "both", block: null, parked: true, processing: true },
    { name: "parked", block: null, parked: true, processing: false },
  ]);
});
