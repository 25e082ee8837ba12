import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";

/** Prints the progress of a bench to stderr, because its result goes to stdout. */
export const printProgress = (line: string) => process.stderr.write(`${line}\n`);

/**
 * The number of WAL files (16 MiB each) that Postgres fills between two checkpoints with its
 * default settings.
 */
const walFileCount = 34;

/**
 * Starts Postgres with durable settings and preallocated WAL files, and sets `DATABASE_URL` to its
 * address. Does nothing if `DATABASE_URL` is already set.
 */
export const startBenchPostgres = async (settings: Readonly<Record<string, string>> = {}) => {
  const givenUrl = process.env["DATABASE_URL"];
  if (givenUrl !== undefined) return { url: givenUrl, close: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), "payment-links-bench-"));
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({
    directory: folder,
    settings,
    report: printProgress,
  });
  await makeWalFiles(server.url);
  process.env["DATABASE_URL"] = server.url;
  return {
    url: server.url,
    close: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/**
 * Preallocates WAL files. A server that has run for a few minutes reuses its WAL files. A new
 * server creates and zeroes each file during a commit, which then takes 50 ms instead of 1 ms.
 */
const makeWalFiles = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let count = 0; count < walFileCount; count += 1) {
      await client.query("SELECT pg_logical_emit_message(false, 'bench', '')");
      await client.query("SELECT pg_switch_wal()");
    }
    // From here on, Postgres reuses the files.
    await client.query("CHECKPOINT");
  } finally {
    await client.end();
  }
};
