import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";

/** Reports how a bench is getting ready, apart from its result. */
export const say = (line: string) => process.stderr.write(`${line}\n`);

/**
 * A Postgres with its durable settings on, if `DATABASE_URL` gives none; `DATABASE_URL` then names
 * it.
 */
export const openBenchPostgres = async (settings: Readonly<Record<string, string>> = {}) => {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined) return { url: given, close: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), "payment-links-bench-"));
  await chmod(folder, 0o755);
  const server = await openEmbeddedPostgres({ directory: folder, settings, report: say });
  process.env["DATABASE_URL"] = server.url;
  return {
    url: server.url,
    close: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
