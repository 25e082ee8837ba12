import { rm } from "node:fs/promises";
import { openEmbeddedPostgres } from "../../deploy/src/embedded-postgres.ts";
import type { StartServer } from "./child-server.ts";

/** Starts the Postgres that the product itself brings, made quick: no test pulls its plug. */
export const startPostgres: StartServer = async ({ directory, report }) => {
  const postgres = await openEmbeddedPostgres({
    directory,
    report,
    settings: {
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      // Each test file opens pools of its own, and every service of the whole set has several.
      max_connections: "300",
    },
  });
  const stop = async () => {
    await postgres.stop();
    // It may lie elsewhere than asked, where nobody else would remove it.
    await rm(postgres.directory, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
};
