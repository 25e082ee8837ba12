import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { linksApiMigration } from "../service.ts";

// Guards against crediting a payment twice if it is republished with a new source id and a new
// payment id.
test("the upgrade gives stored payments the source ids of a republish", async () => {
  const rows = await queryAfterUpgrade(linksApiMigration, {
    firstNewFile: "0004-names-without-places.sql",
    insertSql: `
      SET session_replication_role = replica; -- Their links do not matter here.
      INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, amount,
        token_address, chain_id, destination_address, occurred_at, first_seen_at, applied_at,
        is_orphaned)
      SELECT id, link_id, 1, source, source_id, 'settled', true, 1, '0x', '1', '0x', now(), now(),
        now(), is_orphaned
      FROM (VALUES
        ('tx_1', 'one', 'evm:1', '0xa:10', false),
        ('tx_2', 'one', 'evm:1', '0xa:9', false),
        ('tx_3', 'two', 'evm:1', '0xa:1', false),
        -- Mined again with more logs.
        ('tx_4', 'one', 'evm:1', '0xb:1', true),
        ('tx_5', 'one', 'evm:1', '0xb:3', false),
        ('tx_6', 'one', 'provider:acme', '1:2', false)
      ) AS incoming (id, link_id, source, source_id, is_orphaned)
    `,
    querySql: "SELECT id, source_id FROM payments ORDER BY id",
  });
  expect(rows).toEqual([
    { id: "tx_1", source_id: "0xa:one:1" },
    { id: "tx_2", source_id: "0xa:one:0" },
    { id: "tx_3", source_id: "0xa:two:0" },
    { id: "tx_4", source_id: "0xb:one:1" },
    { id: "tx_5", source_id: "0xb:one:0" },
    { id: "tx_6", source_id: "1:2" },
  ]);
});
