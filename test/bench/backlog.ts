import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openMerchant } from "../rig/client.ts";
import { completedLink, openTeller } from "../rig/completed-links.ts";
import { type RealSystem, openRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { watchMemory } from "../rig/resident-memory.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { openBenchServers } from "./bench-servers.ts";
import { median } from "./load.ts";
import type { Verdict } from "./rounds.ts";

const fewWaiting = 1_000;
const manyWaiting = 1_000_000;
const rowsPerInsert = 100_000;
const slotsPerEndpoint = 20;
const roundCount = 3;
const warmUpSeconds = 20;
const roundSeconds = 10;
/** Deliveries to the two live endpoints together. */
const livePerSecond = 100;
/** How long before they are due the live endpoints' deliveries are inserted. */
const leadMs = 2_000;
const waitMsMax = 60_000;
/**
 * The heap that Node takes by itself in a container of 256 MiB; here it would see the whole
 * machine.
 */
const heapInContainer = "--max-old-space-size=128 --max-semi-space-size=8";

/**
 * How soon two live endpoints get what has come due, with a million deliveries waiting at a third
 * that hangs, compared with a thousand. It is the median of milliseconds from due to arrival:
 * looking for work, claiming it and the way there. `sqlRatio` is that of the time that Postgres
 * spends per live delivery, and `residentMib` the most memory that the dispatcher had meanwhile.
 */
export const benchBacklog = async (): Promise<Verdict> => {
  const servers = await openBenchServers();
  const receivers = await openReceivers();
  const system = await openRealSystem({
    replicasPerService: 1,
    only: ["auth-keys", "webhook-dispatcher"],
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
    const bench = { system, admin, receivers, ...(await openShop(system, admin, receivers)) };
    await queueWaiting(bench, fewWaiting);
    await waitUntil("it hangs", () => receivers.heldCount() === slotsPerEndpoint, waitMsMax);
    await measureRound(bench, warmUpSeconds);
    const few = await measureRounds(bench, fewWaiting);
    await queueWaiting(bench, manyWaiting - fewWaiting);
    const many = await measureRounds(bench, manyWaiting);
    return {
      ours: round(many.p50),
      floor: round(few.p50),
      ratio: round(many.p50 / few.p50),
      oursP99: round(many.p99),
      floorP99: round(few.p99),
      sqlRatio: round(many.sqlMs / few.sqlMs),
      residentMib: { few: round(few.residentMib), many: round(many.residentMib) },
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

/** An account with the three endpoints, and a link that the dispatcher knows. */
const openShop = async (system: RealSystem, admin: Client, receivers: Receivers) => {
  const merchant = await openMerchant(system, "bench");
  const liveIds = [];
  for (const path of ["/1", "/2"]) {
    liveIds.push((await registerEndpoint(system, merchant, `https://live.test${path}`)).id);
  }
  const link = completedLink(merchant.userId);
  const teller = await openTeller(system.topicPrefix);
  await teller.tell([link]);
  await teller.close();
  await waitUntil("the link is heard of", () => receivers.arrivals.size === liveIds.length);
  await admin.query("SET synchronous_commit = off");
  const { id: hangingId } = await registerEndpoint(system, merchant, "https://hanging.test/hook");
  return { hangingId, liveIds, linkId: link.linkId };
};

let queuedCount = 0;

/** Makes deliveries to the hanging endpoint, all due, as if it had been hanging for long. */
const queueWaiting = async ({ admin, hangingId, linkId }: Bench, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= rowsPerInsert) {
    const rows = Math.min(left, rowsPerInsert);
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
  // As autovacuum leaves it a little later.
  await admin.query("VACUUM (ANALYZE) webhook_dispatcher.deliveries");
};

type Round = { p50: number; p99: number; sqlMs: number; residentMib: number };

const measureRounds = async (bench: Bench, waiting: number): Promise<Round> => {
  const rounds: Round[] = [];
  for (let index = 0; index < roundCount; index += 1) {
    const one = await measureRound(bench, roundSeconds);
    rounds.push(one);
    process.stdout.write(
      `${waiting} waiting: p50 ${one.p50.toFixed(1)} ms, p99 ${one.p99.toFixed(1)} ms, ` +
        `${one.sqlMs.toFixed(2)} ms of SQL each, ${one.residentMib.toFixed(0)} MiB\n`,
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
 * Makes deliveries to the live endpoints that come due one after another, and watches when each
 * arrives.
 */
const measureRound = async (bench: Bench, seconds: number): Promise<Round> => {
  const { admin, receivers, liveIds, linkId } = bench;
  const count = seconds * livePerSecond;
  const intervalMs = 1_000 / livePerSecond;
  const first = queuedCount + 1;
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
    [liveIds, liveIds.length, linkId, first, queuedCount, new Date(firstDueAt), intervalMs],
  );
  const sqlMsBefore = await readSqlMs(admin);
  await waitUntil("all have come", () => receivers.arrivals.size >= count, waitMsMax);
  const sqlMs = (await readSqlMs(admin)) - sqlMsBefore;
  const delays = Array.from({ length: count }, (_, index) => {
    const arrivedAt = receivers.arrivals.get(`evt_live${first + index}`) ?? Number.NaN;
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
  if (dispatcher === undefined) throw new Error("there is no dispatcher");
  return dispatcher.pid();
};

/** Time spent on statements of this database so far; backends report theirs about once a second. */
const readSqlMs = async (admin: Client): Promise<number> => {
  await sleep(statisticsDelayMs);
  const { rows } = await admin.query<{ ms: number }>(`
    SELECT active_time AS ms FROM pg_stat_database WHERE datname = current_database()`);
  return rows[0]?.ms ?? Number.NaN;
};

const statisticsDelayMs = 1_500;

type Receivers = Awaited<ReturnType<typeof openReceivers>>;

/**
 * One server that answers at once and notes when each delivery came, and one that never answers.
 */
const openReceivers = async () => {
  const arrivals = new Map<string, number>();
  let heldCount = 0;
  const live = createServer((req, res) => {
    const id = String(req.headers["service-event-id"]);
    if (!arrivals.has(id)) arrivals.set(id, performance.timeOrigin + performance.now());
    req.resume();
    res.end();
  });
  const hanging = createServer((req, res) => {
    heldCount += 1;
    req.resume();
    res.on("close", () => (heldCount -= 1));
  });
  const servers = [live, hanging];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
  return {
    livePort: (live.address() as AddressInfo).port,
    hangingPort: (hanging.address() as AddressInfo).port,
    /** When each delivery first came, by its id, in milliseconds of the epoch. */
    arrivals,
    /** How many attempts hang now. */
    heldCount: () => heldCount,
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};
