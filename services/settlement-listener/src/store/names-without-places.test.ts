import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { settlementListenerMigration } from "../service.ts";

/**
 * The stored transfers. One transaction pays two links, and one of them twice. Another transaction
 * was mined again with fewer logs.
 */
const transfers = `
  INSERT INTO watchers (chain_id, fencing_token, lease_until) VALUES ('1', 1, now());
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, state,
    is_orphaned, payment_link_id, seen_at)
  SELECT '1', hash, ordinal, block, '0x', now(), link, '0x', '0x', 1, '0x', 'settled',
    is_orphaned, link, now()
  FROM (VALUES
    (1, '0xa', 0, 'one', false),
    (2, '0xa', 1, 'two', false),
    (3, '0xa', 2, 'one', false),
    (4, '0xb', 1, 'one', true),
    (5, '0xb', 3, 'one', false)
  ) AS found (block, hash, ordinal, link, is_orphaned);
`;

/**
 * The payments of these transfers, two payments of a deleted disposable chain, and one payment of a
 * provider.
 */
const payments = `
  INSERT INTO payments (id, source, source_id, payment_link_id, version, status, amount,
    token_address, chain_id, destination_address, occurred_at, first_seen_at)
  SELECT id, source, source_id, link, 1, 'settled', 1, '0x', '1', '0x', now(), now()
  FROM (VALUES
    ('tx_1', 'evm:1', '0xa:0', 'one'),
    ('tx_2', 'evm:1', '0xa:1', 'two'),
    ('tx_3', 'evm:1', '0xa:2', 'one'),
    ('tx_4', 'evm:1', '0xb:1', 'one'),
    ('tx_5', 'evm:1', '0xb:3', 'one'),
    ('tx_6', 'evm:1', '0xc:7', 'two'),
    ('tx_7', 'evm:1', '0xb:0', 'one'),
    ('tx_8', 'provider:acme', '0xa:1', 'two')
  ) AS incoming (id, source, source_id, link);
`;

// Guards against applying a payment twice after an upgrade, because it is found again under a new
// name.
test("renames stored transfers and payments to the names under which they are found again", async () => {
  const upgradeAndQuery = (query: string) =>
    queryAfterUpgrade(settlementListenerMigration, {
      firstNewFile: "0003-names-without-places.sql",
      insertSql: transfers + payments,
      querySql: query,
    });
  expect(await upgradeAndQuery("SELECT id, source_id AS name FROM payments ORDER BY id")).toEqual([
    { id: "tx_1", name: "0xa:one:0" },
    { id: "tx_2", name: "0xa:two:0" },
    { id: "tx_3", name: "0xa:one:1" },
    { id: "tx_4", name: "0xb:one:1" },
    { id: "tx_5", name: "0xb:one:0" },
    { id: "tx_6", name: "0xc:two:0" },
    { id: "tx_7", name: "0xb:one:2" },
    { id: "tx_8", name: "0xa:1" },
  ]);
  const ordinals = await upgradeAndQuery(
    "SELECT ordinal FROM chain_transfers ORDER BY block_number",
  );
  expect(ordinals).toEqual([0, 0, 1, 1, 0].map((ordinal) => ({ ordinal })));
});
