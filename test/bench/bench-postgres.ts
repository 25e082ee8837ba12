import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";

/** Reports how a bench is getting ready, apart from its result. */
export const printProgress = (line: string) => process.stderr.write(`${line}\n`);

/** As many WAL files (16 MiB each) as Postgres fills between two checkpoints by its own settings. */
const walFileCount = 34;

/**
 * A Postgres with its durable settings on and its WAL files made, if `DATABASE_URL` gives none;
 * `DATABASE_URL` then names it.
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
 * A server that has run for some minutes writes into WAL files that it has used before. A new one makes
 * and clears each, in the middle of a commit, which then takes fifty milliseconds instead of one.
 */
const makeWalFiles = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let count = 0; count < walFileCount; count += 1) {
      await client.query("SELECT pg_logical_emit_message(false, 'bench', '')");
      await client.query("SELECT pg_switch_wal()");
    }
    // From here on they are used again.
    await client.query("CHECKPOINT");
  } finally {
    await client.end();
  }
};
