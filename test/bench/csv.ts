import { Client } from "pg";
import { request } from "undici";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { type Merchant, createMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { readResidentBytes, watchMemory } from "../rig/resident-memory.ts";
import { createBenchDatabase } from "./database.ts";
import { fillLinks } from "./fill-links.ts";
import type { BenchResult } from "./rounds.ts";
import { poolSize } from "./bench-setup.ts";

const manyCount = Number(process.env["LINKS"] ?? 1_000_000);
const fewCount = 10_000;
const bytesPerMib = 1_048_576;
const newline = "\n".charCodeAt(0);

type Database = Awaited<ReturnType<typeof createBenchDatabase>>;
type Server = { baseUrl: string; internalUrl: string; pid: number };

/**
 * Measures the maximum memory growth of links-api, in MiB, while one million links (`LINKS`) are
 * downloaded as one file. The baseline downloads the same number of links in files of 10,000, one
 * after the other. Each measurement uses a new process that has already sent one small file. The
 * ratio should stay under 1.5, because links-api streams the file.
 */
export const benchCsv = async (): Promise<BenchResult> => {
  const database = await createBenchDatabase([authKeysMigration, linksApiMigration]);
  try {
    const { few, many } = await withServer(database, (server) => fillAccounts(database, server));
    const measure = (files: readonly FilledAccount[]) =>
      withServer(database, (server) => measureGrowth(server, { warmUpFile: few, files }));
    const floor = await measure(Array.from({ length: manyCount / fewCount }, () => few));
    const ours = await measure([many]);
    return { ours, floor, ratio: Number((ours / floor).toFixed(3)) };
  } finally {
    await database.close();
  }
};

const withServer = async <Result>(
  { urlOf }: Database,
  run: (server: Server) => Promise<Result>,
): Promise<Result> => {
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const child = startChild("test/bench/our-server.ts", {
    AUTH_KEYS_URL: urlOf("auth_keys"),
    LINKS_API_URL: urlOf("links_api"),
    CONNECTIONS: String(poolSize),
    NODE_ENV: "production",
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
  });
  try {
    await waitUntilListening(child);
    const baseUrl = `http://127.0.0.1:${port}`;
    return await run({ baseUrl, internalUrl: `http://127.0.0.1:${internalPort}`, pid: child.pid });
  } finally {
    await child.terminate("SIGTERM");
  }
};

/** An account with `count` links. They are copies of the account's seed link. */
type FilledAccount = Merchant & { count: number };

const fillAccounts = async ({ adminUrl }: Database, server: Server) => {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  const createFilledAccount = async (handle: string, count: number): Promise<FilledAccount> => {
    const merchant = await createMerchant(server, handle);
    const shape = { status: "'completed'", expires: "NULL" };
    await fillLinks(admin, { ours: server }, { ...merchant, count }, shape);
    return { ...merchant, count: count + 1 };
  };
  const few = await createFilledAccount("few", fewCount);
  const many = await createFilledAccount("many", manyCount);
  await admin.query("VACUUM ANALYZE links_api.links");
  await admin.end();
  return { few, many };
};

type DownloadRun = { warmUpFile: FilledAccount; files: readonly FilledAccount[] };

const measureGrowth = async (
  { baseUrl, pid }: Server,
  { warmUpFile, files }: DownloadRun,
): Promise<number> => {
  await download(baseUrl, warmUpFile);
  const bytesBefore = readResidentBytes(pid);
  const memoryWatch = watchMemory(pid);
  const startedAt = performance.now();
  for (const file of files) await download(baseUrl, file);
  const grownMib = Math.round((memoryWatch.stop() - bytesBefore) / bytesPerMib);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(
    `${files.length} files in ${seconds} s: ${grownMib} MiB over ${Math.round(bytesBefore / bytesPerMib)}\n`,
  );
  return grownMib;
};

const download = async (baseUrl: string, { cookie, count }: FilledAccount): Promise<void> => {
  const url = `${baseUrl}/console/api/payment-links.csv`;
  const { body } = await request(url, { headers: { cookie } });
  let lines = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let index = chunk.indexOf(newline); index >= 0; index = chunk.indexOf(newline, index + 1))
      lines += 1;
  }
  if (lines - 1 !== count) throw new Error(`received ${lines - 1} links instead of ${count}`);
};
