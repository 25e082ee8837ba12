import { rm, writeFile } from "node:fs/promises";
import { startEmbeddedPostgres } from "../../deploy/src/embedded-postgres.ts";
import type { StartServer } from "./child-server.ts";

/**
 * Starts the embedded Postgres of the product. Durability is off for speed, because tests do not
 * simulate power failures.
 */
export const startPostgres: StartServer = async ({ directory, host, report }) => {
  const settings = {
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    // Otherwise, a test's statements could use statistics from between two of its inserts. Tests run
    // ANALYZE and VACUUM themselves.
    autovacuum: "off",
    // Each test file opens its own pools, and each service of the full system has several.
    max_connections: "300",
    ...(host === undefined ? {} : await buildListenSettings(host, `${directory}.pg_hba.conf`)),
  };
  let postgres = await startEmbeddedPostgres({ directory, report, settings });
  const stop = async () => {
    await postgres.stop();
    // The data can be in a different directory than requested. This directory is not removed
    // elsewhere.
    await rm(postgres.directory, { recursive: true, force: true });
  };
  const url = new URL(postgres.url);
  const port = Number(url.port);
  const stopTemporarily = async () => {
    await postgres.stop();
    return async () => {
      postgres = await startEmbeddedPostgres({ directory, port, report, settings });
    };
  };
  url.hostname = host ?? url.hostname;
  return { url: url.href, stop, stopTemporarily };
};

/** Returns settings that accept password-authenticated clients from addresses other than loopback. */
const buildListenSettings = async (
  host: string,
  hbaFile: string,
): Promise<Record<string, string>> => {
  await writeFile(hbaFile, "host all all all scram-sha-256\n", { mode: 0o644 });
  return { listen_addresses: host, hba_file: hbaFile };
};
