import { expect, test } from "@jest/globals";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { webhookDispatcherMigration } from "../service.ts";

test("the upgrade makes endpoints live (rule MODE-5)", async () => {
  const rows = await queryAfterUpgrade(webhookDispatcherMigration, {
    firstNewFile: "0015-modes.sql",
    insertSql: `
      INSERT INTO endpoints (id, user_id, url, name, enabled, secret_prefix, sealed_secret,
        secret_key_name, date_created)
      VALUES ('whe_1', 'user_1', 'https://shop.com', 'Shop', true, 'whsec_0123', 'a', 'k',
        '2026-01-01Z')
    `,
    querySql: "SELECT id, mode FROM endpoints",
  });
  expect(rows).toEqual([{ id: "whe_1", mode: "live" }]);
});
