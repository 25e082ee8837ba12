import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { webhookDispatcherMigration } from "@payment-links/webhook-dispatcher";
import { dumpSchema } from "./schema/dump-schema.ts";

const writeCommand = "SCHEMA=write npm test -- test/schema";
const headerComment = `-- The whole schema, written from the migrations by \`${writeCommand}\`. Not run by anything.\n\n`;

test.each([
  ["auth-keys", authKeysMigration],
  ["links-api", linksApiMigration],
  ["settlement-listener", settlementListenerMigration],
  ["webhook-dispatcher", webhookDispatcherMigration],
])("the migrations of %s produce its schema.sql", async (service, migration) => {
  const file = new URL(`../services/${service}/schema.sql`, import.meta.url);
  const database = await createTestDatabase([migration]);
  try {
    const expectedSql = headerComment + (await dumpSchema(database.adminUrl, migration.schema));
    if (process.env["SCHEMA"] === "write") await writeFile(file, expectedSql);
    expect(await readFile(file, "utf8")).toBe(expectedSql);
  } finally {
    await database.drop();
  }
});
