import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { type Child, startChild, waitUntilListening } from "../rig/child.ts";
import { call, createMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { readResidentBytes } from "../rig/resident-memory.ts";
import { printProgress } from "./bench-postgres.ts";
import { createBenchDatabase } from "./database.ts";
import type { BenchResult } from "./rounds.ts";
import { connectReaders } from "./stream-readers.ts";

const streamCount = Number(process.env["STREAMS"] ?? 5_000);
const warmUpCount = 200;
/** The idle time before the memory is measured. */
const idleMs = 20_000;
/**
 * The delay from the start of the takeover until the links are paid. At that time, some readers
 * have moved, some are reconnecting, and some are still connected.
 */
const moveMs = 2_500;

/**
 * Measures the event streams of many links in one process:
 * - the memory per stream in KiB, compared with a bare server that sends the same events
 * - the time until all readers receive an update when all links are partly paid at the same instant
 * - a deploy: all links are paid while a second process takes over from the first, and every reader
 *   must receive the update
 *
 * The same takeover between two bare servers shows the cost of the readers themselves.
 */
export const benchStreams = async (): Promise<BenchResult> => {
  const database = await createBenchDatabase([authKeysMigration, linksApiMigration]);
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  const [port = 0, internalPort = 0, nextPort = 0, nextInternalPort = 0, ...floorPorts] =
    await findFreePorts(6);
  const startOurServer = (publicPort: number, ownInternalPort: number) =>
    startChild("test/bench/our-server.ts", {
      AUTH_KEYS_URL: database.urlOf("auth_keys"),
      LINKS_API_URL: database.urlOf("links_api"),
      CONNECTIONS: "10",
      NODE_ENV: "production",
      SETTLEMENT_CHAINS: "8453",
      EVENT_STREAMS_MAX: String(streamCount),
      EVENT_STREAMS_PER_IP_MAX: String(streamCount),
      CONNECTIONS_PER_IP_MAX: "2500",
      PORT: String(publicPort),
      INTERNAL_PORT: String(ownInternalPort),
    });
  const children = [startOurServer(port, internalPort), startOurServer(nextPort, nextInternalPort)];
  try {
    const [firstChild, nextChild] = children;
    if (firstChild === undefined || nextChild === undefined)
      throw new Error("fewer than two processes were started");
    await Promise.all(children.map(waitUntilListening));
    const baseUrl = `http://127.0.0.1:${port}`;
    const system = { baseUrl, internalUrl: `http://127.0.0.1:${internalPort}` };
    const paths = await fillLinks(admin, system);
    printProgress(`opening ${streamCount} streams`);
    const ours = await measureMemory(firstChild, [port, nextPort], paths);
    const { readers } = ours;
    const stateBytes = readers.readers[0]?.data.length ?? 0;
    const receivedTimes = await timeReceipt(
      ours,
      () => payAllLinks(admin, "active", 10),
      '"receivedAmount":"10"',
    );
    printProgress(`all readers received a partial payment after ${receivedTimes.allMs} ms`);

    const takeover = await timeTakeover(firstChild, readers, async () => {
      await sleep(moveMs);
      return timeReceipt(ours, () => payAllLinks(admin, "completed", 25.5), '"completed"');
    });
    readers.close();
    const floorChildren = floorPorts.map((floorPort) =>
      startChild("test/bench/streams-floor-server.ts", {
        PORT: String(floorPort),
        STATE_BYTES: String(stateBytes),
      }),
    );
    children.push(...floorChildren);
    await Promise.all(floorChildren.map(waitUntilListening));
    const [floorChild] = floorChildren;
    if (floorChild === undefined) throw new Error("fewer than two processes were started");
    const floor = await measureMemory(floorChild, floorPorts, paths);
    const floorTakeover = await timeTakeover(floorChild, floor.readers);
    floor.readers.close();
    return {
      ours: round(ours.kibPerStream),
      floor: round(floor.kibPerStream),
      ratio: Number((ours.kibPerStream / floor.kibPerStream).toFixed(2)),
      unit: "KiB/stream",
      streams: streamCount,
      residentMib: { ours: ours.residentMib, floor: floor.residentMib },
      receivedMs: receivedTimes,
      deploy: {
        ...takeover,
        floor: floorTakeover,
        awayRatio: Number((takeover.awayMs.p99Ms / floorTakeover.awayMs.p99Ms).toFixed(2)),
      },
    };
  } finally {
    await Promise.all(children.map((child) => child.terminate("SIGTERM")));
    await admin.end();
    await database.close();
  }
};

const round = (value: number): number => Number(value.toFixed(1));

const computeSpread = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  const valueAt = (fraction: number) =>
    Math.round(sorted[Math.floor(sorted.length * fraction)] ?? 0);
  return { medianMs: valueAt(0.5), p99Ms: valueAt(0.99), allMs: Math.round(sorted.at(-1) ?? 0) };
};

type MemoryMeasurement = Awaited<ReturnType<typeof measureMemory>>;

const measureMemory = async (
  { pid }: Child,
  ports: readonly number[],
  paths: readonly string[],
) => {
  // Warms up, so that JIT compilation is not measured.
  (await connectReaders(ports, paths.slice(0, warmUpCount))).close();
  await sleep(idleMs);
  const bytesBefore = readResidentBytes(pid);
  const readers = await connectReaders(ports, paths);
  await sleep(idleMs);
  const bytes = readResidentBytes(pid);
  const kibPerStream = (bytes - bytesBefore) / 1024 / paths.length;
  return { readers, kibPerStream, residentMib: Math.round(bytes / 1024 ** 2) };
};

/** Returns the median and the maximum delay from a change until the readers receive it. */
const timeReceipt = async (
  { readers }: MemoryMeasurement,
  makeChange: () => Promise<unknown>,
  expectedText: string,
) => {
  await makeChange();
  const changedAt = performance.now();
  const receivedAt = await readers.waitUntilAllReceive(expectedText);
  return computeSpread(receivedAt.map((receivedAtMs) => receivedAtMs - changedAt));
};

/**
 * Stops a process and waits until all its readers receive events from the other process. A reader
 * is late if it was away for longer than the retry delay that its old stream requested. This time
 * includes connecting and the CPU time of the readers themselves.
 */
const timeTakeover = async <Result>(
  child: Child,
  readers: MemoryMeasurement["readers"],
  duringTakeover?: () => Promise<Result>,
) => {
  const startedAt = performance.now();
  const childExit = child
    .terminate("SIGTERM")
    .then((code) => ({ code, exitedAt: performance.now() }));
  const receivedMs = await duringTakeover?.();
  await readers.waitUntilAllMoved();
  const { code, exitedAt } = await childExit;
  const awayMs = computeSpread(readers.readers.map((reader) => reader.awayMs));
  return {
    receivedMs,
    awayMs,
    lateMs: computeSpread(readers.readers.map(({ lateMs }) => lateMs)),
    stopMs: Math.round(exitedAt - startedAt),
    isInOrder: code === 0,
  };
};

/** Updates all links at the same instant, as payments would. */
const payAllLinks = (admin: Client, status: string, amount: number) =>
  admin.query(
    `UPDATE links_api.links SET version = version + 1, status = $1, received_amount = $2,
       current_usage = current_usage + 1`,
    [status, amount],
  );

const fillLinks = async (
  admin: Client,
  system: { baseUrl: string; internalUrl: string },
): Promise<string[]> => {
  const { apiKey } = await createMerchant(system, "bench");
  const created = await call(`${system.baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: { toAmount: "25.5" },
  });
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO links_api.links (id, user_id, version, status, to_amount, created_at, wallet_id,
       destination_address, token_id, chain_id, token_address, payment_reference)
     SELECT left(id, 22) || lpad(n::text, 10, '0'), user_id, 1, status, to_amount, created_at,
       wallet_id, destination_address, token_id, chain_id, token_address, md5(id || n)
     FROM links_api.links, generate_series(1, $2::int) AS n WHERE id = $1 RETURNING id`,
    [created.body["id"], streamCount],
  );
  await admin.query("VACUUM ANALYZE links_api.links");
  return rows.map(({ id }) => `/checkout/payment-links/${id}/events`);
};
