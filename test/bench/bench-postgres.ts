import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";

/** Reports the preparation of a bench on stderr, separate from its result on stdout. */
export const printProgress = (line: string) => process.stderr.write(`${line}\n`);

/**
 * The number of WAL files (16 MiB each) that Postgres fills between two checkpoints with its
 * default settings.
 */
const walFileCount = 34;

/**
 * Starts a Postgres with durable settings and existing WAL files, unless `DATABASE_URL` is set.
 * Sets `DATABASE_URL` to its address.
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
 * Creates WAL files in advance. A server that has run for some minutes reuses its WAL files. A new
 * server creates and clears each file in the middle of a commit, which then takes fifty
 * milliseconds instead of one.
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
