import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createMerchant } from "../rig/client.ts";
import { createCompletedLinkRecord, connectLinkPublisher } from "../rig/completed-links.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { watchMemory } from "../rig/resident-memory.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { startBenchServers } from "./bench-servers.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const fewWaiting = 1_000;
const manyWaiting = 1_000_000;
const rowsPerInsert = 100_000;
const slotsPerEndpoint = 20;
const roundCount = 3;
const warmUpSeconds = 20;
const roundSeconds = 10;
/** The combined delivery rate of the two live endpoints. */
const livePerSecond = 100;
/** How far ahead of their due time the live endpoints' deliveries are inserted. */
const leadMs = 2_000;
const waitMsMax = 60_000;
/**
 * Node's default heap size in a container with 256 MiB. Without this limit, Node would base its
 * heap size on the memory of the whole machine.
 */
const heapInContainer = "--max-old-space-size=128 --max-semi-space-size=8";

/**
 * Measures how soon two live endpoints receive due deliveries while one million deliveries are
 * pending for a third endpoint, which hangs. Compares this with 1,000 pending deliveries. The
 * result is the median time in milliseconds from the due time to the arrival. It includes polling,
 * claiming and the network. `sqlRatio` compares the time that Postgres spends per live delivery.
 * `residentMib` is the dispatcher's peak memory.
 */
export const benchBacklog = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const receivers = await startReceivers();
  const system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: {
      WEBHOOK_SECRET_KEYS: `bench=${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOST_OVERRIDES: [
        `hanging.test=http://127.0.0.1:${receivers.hangingPort}`,
        `live.test=http://127.0.0.1:${receivers.livePort}`,
      ].join(),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      NODE_OPTIONS: heapInContainer,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const bench = { system, admin, receivers, ...(await createShop(system, admin, receivers)) };
    await queueWaiting(bench, fewWaiting);
    await waitUntil(
      "the receivers hang",
      () => receivers.heldCount() === slotsPerEndpoint,
      waitMsMax,
    );
    await measureRound(bench, warmUpSeconds);
    const fewResult = await measureRounds(bench, fewWaiting);
    await queueWaiting(bench, manyWaiting - fewWaiting);
    const manyResult = await measureRounds(bench, manyWaiting);
    return {
      ours: round(manyResult.p50),
      floor: round(fewResult.p50),
      ratio: round(manyResult.p50 / fewResult.p50),
      oursP99: round(manyResult.p99),
      floorP99: round(fewResult.p99),
      sqlRatio: round(manyResult.sqlMs / fewResult.sqlMs),
      residentMib: { few: round(fewResult.residentMib), many: round(manyResult.residentMib) },
    };
  } finally {
    await admin.end();
    await system.close();
    receivers.close();
    await servers.close();
  }
};

const round = (value: number): number => Number(value.toFixed(2));

type Bench = {
  system: RealSystem;
  admin: Client;
  receivers: Receivers;
  hangingId: string;
  liveIds: readonly string[];
  linkId: string;
};

/**
 * Creates an account with the three endpoints and a link. Waits until the dispatcher has received
 * the link.
 */
const createShop = async (system: RealSystem, admin: Client, receivers: Receivers) => {
  const merchant = await createMerchant(system, "bench");
  const liveIds = [];
  for (const path of ["/1", "/2"]) {
    liveIds.push((await registerEndpoint(system, merchant, `https://live.test${path}`)).id);
  }
  const link = createCompletedLinkRecord(merchant.userId);
  const publisher = await connectLinkPublisher(system.topicPrefix);
  await publisher.publish([link]);
  await publisher.close();
  await waitUntil(
    "the dispatcher has received the link",
    () => receivers.arrivals.size === liveIds.length,
  );
  await admin.query("SET synchronous_commit = off");
  const { id: hangingId } = await registerEndpoint(system, merchant, "https://hanging.test/hook");
  return { hangingId, liveIds, linkId: link.linkId };
};

let queuedCount = 0;

/**
 * Inserts deliveries to the hanging endpoint. All of them are due, as if the endpoint had been
 * hanging for a long time.
 */
const queueWaiting = async ({ admin, hangingId, linkId }: Bench, count: number): Promise<void> => {
  for (let remainingCount = count; remainingCount > 0; remainingCount -= rowsPerInsert) {
    const rows = Math.min(remainingCount, rowsPerInsert);
    await admin.query(
      `INSERT INTO webhook_dispatcher.deliveries
         (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created,
          next_attempt_at)
       SELECT 'evt_waiting' || n, 'waiting' || n, $1, $2, 'payment_link.completed', now(), now(),
              now() + n * interval '1 microsecond' - interval '1 hour'
       FROM generate_series($3::int, $4::int) AS n`,
      [hangingId, linkId, queuedCount + 1, queuedCount + rows],
    );
    queuedCount += rows;
  }
  // Vacuums now, as autovacuum would soon do.
  await admin.query("VACUUM (ANALYZE) webhook_dispatcher.deliveries");
};

type RoundResult = { p50: number; p99: number; sqlMs: number; residentMib: number };

const measureRounds = async (bench: Bench, waitingCount: number): Promise<RoundResult> => {
  const rounds: RoundResult[] = [];
  for (let index = 0; index < roundCount; index += 1) {
    const roundResult = await measureRound(bench, roundSeconds);
    rounds.push(roundResult);
    process.stdout.write(
      `${waitingCount} pending: p50 ${roundResult.p50.toFixed(1)} ms, p99 ${roundResult.p99.toFixed(1)} ms, ` +
        `${roundResult.sqlMs.toFixed(2)} ms of SQL each, ${roundResult.residentMib.toFixed(0)} MiB\n`,
    );
  }
  return {
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    sqlMs: median(rounds.map(({ sqlMs }) => sqlMs)),
    residentMib: Math.max(...rounds.map(({ residentMib }) => residentMib)),
  };
};

/**
 * Inserts deliveries to the live endpoints that become due one after another, and records when each
 * of them arrives.
 */
const measureRound = async (bench: Bench, seconds: number): Promise<RoundResult> => {
  const { admin, receivers, liveIds, linkId } = bench;
  const count = seconds * livePerSecond;
  const intervalMs = 1_000 / livePerSecond;
  const firstNumber = queuedCount + 1;
  queuedCount += count;
  const firstDueAt = Date.now() + leadMs;
  receivers.arrivals.clear();
  const memory = watchMemory(dispatcherPid(bench));
  await admin.query(
    `INSERT INTO webhook_dispatcher.deliveries
       (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created,
          next_attempt_at)
     SELECT 'evt_live' || n, 'live' || n, ($1::text[])[1 + n % $2], $3, 'payment_link.completed',
            due_at, due_at, due_at
     FROM generate_series($4::int, $5::int) AS n,
          LATERAL (
            SELECT $6::timestamptz + (n - $4) * $7::float8 * interval '1 millisecond' AS due_at
          ) AS due`,
    [liveIds, liveIds.length, linkId, firstNumber, queuedCount, new Date(firstDueAt), intervalMs],
  );
  const sqlMsBefore = await readSqlMs(admin);
  await waitUntil("all webhooks arrive", () => receivers.arrivals.size >= count, waitMsMax);
  const sqlMs = (await readSqlMs(admin)) - sqlMsBefore;
  const delays = Array.from({ length: count }, (_, index) => {
    const arrivedAt = receivers.arrivals.get(`evt_live${firstNumber + index}`) ?? Number.NaN;
    return arrivedAt - (firstDueAt + index * intervalMs);
  }).toSorted((a, b) => a - b);
  return {
    p50: delays[Math.floor(count * 0.5)] ?? Number.NaN,
    p99: delays[Math.floor(count * 0.99)] ?? Number.NaN,
    sqlMs: sqlMs / count,
    residentMib: memory.stop() / 1024 / 1024,
  };
};

const dispatcherPid = ({ system }: Bench): number => {
  const dispatcher = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  if (dispatcher === undefined) throw new Error("the dispatcher is missing");
  return dispatcher.pid();
};

/**
 * Returns the time that this database has spent on statements so far. Backends report it about once
 * a second.
 */
const readSqlMs = async (admin: Client): Promise<number> => {
  await sleep(statisticsDelayMs);
  const { rows } = await admin.query<{ ms: number }>(`
    SELECT active_time AS ms FROM pg_stat_database WHERE datname = current_database()`);
  return rows[0]?.ms ?? Number.NaN;
};

const statisticsDelayMs = 1_500;

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/**
 * Starts one server that responds immediately and records each delivery's arrival, and one that
 * never responds.
 */
const startReceivers = async () => {
  const arrivals = new Map<string, number>();
  let heldCount = 0;
  const liveServer = createServer((req, res) => {
    const id = String(req.headers["service-event-id"]);
    if (!arrivals.has(id)) arrivals.set(id, performance.timeOrigin + performance.now());
    req.resume();
    res.end();
  });
  const hangingServer = createServer((req, res) => {
    heldCount += 1;
    req.resume();
    res.on("close", () => (heldCount -= 1));
  });
  const servers = [liveServer, hangingServer];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
  return {
    livePort: (liveServer.address() as AddressInfo).port,
    hangingPort: (hangingServer.address() as AddressInfo).port,
    /**
     * The time of each delivery's first arrival, by delivery ID, in milliseconds since the epoch.
     */
    arrivals,
    /** Returns the number of attempts that are currently waiting for a response. */
    heldCount: () => heldCount,
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};
