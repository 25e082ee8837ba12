import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { webhookDispatcherMigration } from "@payment-links/webhook-dispatcher";
import { dumpSchema } from "./schema/dump-schema.ts";

const command = "SCHEMA=write npm test -- test/schema";
const heading = `-- The whole schema, written from the migrations by \`${command}\`. Not run by anything.\n\n`;

test.each([
  ["auth-keys", authKeysMigration],
  ["links-api", linksApiMigration],
  ["settlement-listener", settlementListenerMigration],
  ["webhook-dispatcher", webhookDispatcherMigration],
])("the migrations of %s make its schema.sql", async (service, migration) => {
  const file = new URL(`../services/${service}/schema.sql`, import.meta.url);
  const database = await createTestDatabase([migration]);
  try {
    const dump = heading + (await dumpSchema(database.adminUrl, migration.schema));
    if (process.env["SCHEMA"] === "write") await writeFile(file, dump);
    expect(await readFile(file, "utf8")).toBe(dump);
  } finally {
    await database.drop();
  }
});
