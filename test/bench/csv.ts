import { Client } from "pg";
import { request } from "undici";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { startChild, waitListening } from "../rig/child.ts";
import { type Merchant, openMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { residentBytesOf, watchMemory } from "../rig/resident-memory.ts";
import { openBenchDatabase } from "./database.ts";
import { fillLinks } from "./fill-links.ts";
import type { Verdict } from "./rounds.ts";
import { poolSize } from "./stage.ts";

const manyCount = Number(process.env["LINKS"] ?? 1_000_000);
const fewCount = 10_000;
const bytesPerMib = 1_048_576;
const newline = "\n".charCodeAt(0);

type Database = Awaited<ReturnType<typeof openBenchDatabase>>;
type Server = { baseUrl: string; internalUrl: string; pid: number };

/**
 * By how many MiB links-api grows at most while somebody downloads a million links (`LINKS`) as one
 * file, compared with the same number in files of 10,000, one after the other: a new process for each,
 * which has written one such file before. Bounded by 1.5, as no part of a file is kept.
 */
export const benchCsv = async (): Promise<Verdict> => {
  const database = await openBenchDatabase([authKeysMigration, linksApiMigration]);
  try {
    const { few, many } = await withServer(database, (server) => fill(database, server));
    const measure = (files: readonly Filled[]) =>
      withServer(database, (server) => measureGrowth(server, { first: few, files }));
    const floor = await measure(Array.from({ length: manyCount / fewCount }, () => few));
    const ours = await measure([many]);
    return { ours, floor, ratio: Number((ours / floor).toFixed(3)) };
  } finally {
    await database.close();
  }
};

const withServer = async <Result>(
  { urlOf }: Database,
  use: (server: Server) => Promise<Result>,
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
    await waitListening(child);
    const baseUrl = `http://127.0.0.1:${port}`;
    return await use({ baseUrl, internalUrl: `http://127.0.0.1:${internalPort}`, pid: child.pid });
  } finally {
    await child.end("SIGTERM");
  }
};

/** An account that has so many links, and the one that the others were copied from. */
type Filled = Merchant & { count: number };

const fill = async ({ adminUrl }: Database, server: Server) => {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  const fillOne = async (handle: string, count: number): Promise<Filled> => {
    const merchant = await openMerchant(server, handle);
    const shape = { status: "'completed'", expires: "NULL" };
    await fillLinks(admin, { ours: server }, { ...merchant, count }, shape);
    return { ...merchant, count: count + 1 };
  };
  const few = await fillOne("few", fewCount);
  const many = await fillOne("many", manyCount);
  await admin.query("VACUUM ANALYZE links_api.links");
  await admin.end();
  return { few, many };
};

type Downloads = { first: Filled; files: readonly Filled[] };

const measureGrowth = async (
  { baseUrl, pid }: Server,
  { first, files }: Downloads,
): Promise<number> => {
  await download(baseUrl, first);
  const before = residentBytesOf(pid);
  const watched = watchMemory(pid);
  const startedAt = performance.now();
  for (const file of files) await download(baseUrl, file);
  const grownMib = Math.round((watched.stop() - before) / bytesPerMib);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(
    `${files.length} files in ${seconds} s: ${grownMib} MiB over ${Math.round(before / bytesPerMib)}\n`,
  );
  return grownMib;
};

const download = async (baseUrl: string, { cookie, count }: Filled): Promise<void> => {
  const url = `${baseUrl}/console/api/payment-links.csv`;
  const { body } = await request(url, { headers: { cookie } });
  let lines = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
  }
  if (lines - 1 !== count) throw new Error(`${lines - 1} links came, not ${count}`);
};
