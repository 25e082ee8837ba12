import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { authKeysMigration } from "../service.ts";

test("the upgrade makes keys and wallets live, whatever their prefix and chain (rules MODE-2 and MODE-3)", async () => {
  const rows = await queryAfterUpgrade(authKeysMigration, {
    firstNewFile: "0025-modes.sql",
    insertSql: `
      INSERT INTO accounts (id, version, username, date_created)
      VALUES ('user_1', 1, 'Alice', '2026-01-01Z');
      INSERT INTO api_keys (id, account_id, hash, prefix, name, scopes, is_active, date_created)
      VALUES ('key_1', 'user_1', sha256('a'), 'plk_test_abcd', 'Shop', '{payment_link:read}', true,
        '2026-01-01Z');
      INSERT INTO wallets (id, account_id, wallet_address, token_id, chain_id, chain_type,
        is_default, is_chain_default, date_created)
      VALUES ('wallet_1', 'user_1', '0xa', 'usdc-sepolia', '11155111', 'EVM', true, true,
        '2026-01-01Z')
    `,
    querySql: "SELECT id, mode FROM api_keys UNION ALL SELECT id, mode FROM wallets ORDER BY 1",
  });
  expect(rows).toEqual([
    { id: "key_1", mode: "live" },
    { id: "wallet_1", mode: "live" },
  ]);
});
