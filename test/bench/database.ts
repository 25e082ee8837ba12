import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";

type Schemas = Parameters<typeof createTestDatabase>[0];

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Makes a database for a bench, on a Postgres with its durable settings on, or on `DATABASE_URL`. */
export const openBenchDatabase = async (schemas: Schemas) => {
  const folder = await mkdtemp(join(tmpdir(), "payment-links-bench-"));
  await chmod(folder, 0o755);
  const ownServer =
    process.env["DATABASE_URL"] === undefined
      ? await openEmbeddedPostgres({ directory: folder, report: say })
      : undefined;
  if (ownServer !== undefined) process.env["DATABASE_URL"] = ownServer.url;
  const database = await createTestDatabase(schemas);
  return {
    adminUrl: database.adminUrl,
    urlOf: (role: string) => database.urlOf(role),
    close: async () => {
      await database.drop();
      await ownServer?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
