import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import * as z from "zod";
import { type Merchant, call, createMerchant } from "../rig/client.ts";
import {
  type LinkPublisher,
  createCompletedLinkRecord,
  connectLinkPublisher,
} from "../rig/completed-links.ts";
import { percentile } from "../rig/percentile.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { startBenchServers } from "./bench-servers.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const accountCount = 5;
const endpointCount = 21;
const eventsPerSecond = 10;
const slotsPerEndpoint = 20;
const pairCount = Number(process.env["PAIRS"] ?? 5);
const measureSeconds = 15;
const warmUpSeconds = 10;
/** The dispatcher's own timeout, plus the time to record the failure. */
const idleMsMax = 20_000;
const arrivalMsMax = 60_000;

/**
 * Sends ten events per second to each of 21 endpoints of five accounts. One endpoint of each
 * account is either disabled or hangs until the dispatcher times out after ten seconds. Measures
 * the p99 in milliseconds from publishing an event to the first attempt at the other 16 endpoints.
 * Rounds with and without hanging endpoints take turns. `ratio` is the median of the ratios of
 * these pairs.
 */
export const benchHanging = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const receivers = await startReceivers();
  const system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: {
      WEBHOOK_SECRET_KEYS: `bench=${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOST_OVERRIDES: [
        ...hangingHosts.map((host) => `${host}=http://127.0.0.1:${receivers.hangingPort}`),
        ...liveHosts.map((host) => `${host}=http://127.0.0.1:${receivers.livePort}`),
      ].join(),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      RATE_LIMIT_PER_IP: "10000:10000",
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  const publisher = await connectLinkPublisher(system.topicPrefix);
  try {
    await admin.connect();
    const shops: Shop[] = [];
    for (let index = 0; index < accountCount; index += 1)
      shops.push(await createShop(system, index));
    const bench = { system, admin, publisher, receivers, shops };
    await measure(bench, warmUpSeconds);
    const pairs: Pair[] = [];
    for (let index = 0; index < pairCount; index += 1) pairs.push(await measurePair(bench, index));
    return summarize(pairs);
  } finally {
    await publisher.close();
    await admin.end();
    await system.close();
    receivers.close();
    await servers.close();
  }
};

/** 99th percentiles, in milliseconds. */
type Pair = { withHanging: number; without: number; ratio: number };

const summarize = (pairs: readonly Pair[]): BenchResult => ({
  ours: round(median(pairs.map(({ withHanging }) => withHanging))),
  floor: round(median(pairs.map(({ without }) => without))),
  ratio: round(median(pairs.map(({ ratio }) => ratio))),
  pairs,
});

const round = (value: number): number => Number(value.toFixed(2));

const hangingHosts = Array.from({ length: accountCount }, (_, index) => `hanging-${index}.test`);
const liveHosts = Array.from(
  { length: endpointCount - accountCount },
  (_, index) => `live-${index}.test`,
);

/** An account whose first endpoint hangs. */
type Shop = { merchant: Merchant; hangingId: string };

type Bench = {
  system: RealSystem;
  admin: Client;
  publisher: LinkPublisher;
  receivers: Receivers;
  shops: readonly Shop[];
};

const createShop = async (system: RealSystem, index: number): Promise<Shop> => {
  const merchant = await createMerchant(system, `bench_${index}`);
  const { id: hangingId } = await registerEndpoint(
    system,
    merchant,
    `https://hanging-${index}.test/hook`,
  );
  for (const host of liveHosts.filter((_, hostIndex) => hostIndex % accountCount === index)) {
    await registerEndpoint(system, merchant, `https://${host}/hook`);
  }
  await setEnabled(system, { merchant, hangingId }, false);
  return { merchant, hangingId };
};

const setEnabled = async (
  { baseUrl }: RealSystem,
  { merchant, hangingId }: Shop,
  enabled: boolean,
): Promise<void> => {
  const { status } = await call(`${baseUrl}/console/api/webhook-endpoints/${hangingId}`, {
    method: "PATCH",
    headers: { cookie: merchant.cookie },
    body: { enabled },
  });
  if (status !== 200) throw new Error(`changing an endpoint got the response ${status}`);
};

const measurePair = async (bench: Bench, index: number): Promise<Pair> => {
  const p99 = { withHanging: 0, without: 0 };
  const order = ["without", "withHanging"] as const;
  for (const kind of index % 2 === 0 ? order : order.toReversed()) {
    p99[kind] = kind === "without" ? await measureWithout(bench) : await measureWith(bench);
  }
  const pair = {
    withHanging: round(p99.withHanging),
    without: round(p99.without),
    ratio: round(p99.withHanging / p99.without),
  };
  process.stdout.write(
    `pair ${index + 1}: p99 with five hanging ${pair.withHanging} ms, ` +
      `without ${pair.without} ms, ratio ${pair.ratio}\n`,
  );
  return pair;
};

const measureWithout = async (bench: Bench): Promise<number> => {
  await measure(bench, fillSeconds);
  return measure(bench, measureSeconds);
};

/**
 * At ten events per second, a hanging endpoint occupies all its delivery slots within two seconds.
 */
const fillSeconds = 4;

const measureWith = async (bench: Bench): Promise<number> => {
  const { system, admin, receivers, shops } = bench;
  for (const shop of shops) await setEnabled(system, shop, true);
  await measure(bench, fillSeconds);
  if (receivers.heldCount() < accountCount * slotsPerEndpoint) {
    throw new Error(`only ${receivers.heldCount()} attempts hang`);
  }
  const p99 = await measure(bench, measureSeconds);
  for (const shop of shops) await setEnabled(system, shop, false);
  await waitUntil("no attempt hangs", async () => (await countLeased(admin)) === 0, idleMsMax);
  return p99;
};

/**
 * Publishes events at the fixed rate. Returns the 99th percentile of the delays until they reach
 * the live endpoints.
 */
const measure = async (
  { publisher, receivers, shops }: Bench,
  seconds: number,
): Promise<number> => {
  const publishedAtMs = new Map<string, number>();
  const publishing: Promise<void>[] = [];
  const eventCount = seconds * eventsPerSecond * shops.length;
  const startedAt = performance.now();
  for (let index = 0; index < eventCount; index += 1) {
    const dueInMs =
      startedAt + (index * 1000) / (eventsPerSecond * shops.length) - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    const link = createCompletedLinkRecord(shops[index % shops.length]?.merchant.userId ?? "");
    publishedAtMs.set(link.linkId, performance.now());
    publishing.push(publisher.publish([link]));
  }
  await Promise.all(publishing);
  const delays: number[] = [];
  const expected = (eventCount * liveHosts.length) / shops.length;
  await waitUntil(
    "all first attempts arrive",
    () => {
      for (const { linkId, arrivedAt } of receivers.takeArrivals()) {
        const publishedAt = publishedAtMs.get(linkId);
        if (publishedAt !== undefined) delays.push(arrivedAt - publishedAt);
      }
      return delays.length >= expected;
    },
    arrivalMsMax,
  );
  return percentile(delays, 0.99);
};

const countLeased = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int AS count FROM webhook_dispatcher.deliveries
    WHERE lease_until IS NOT NULL`);
  return rows[0]?.count ?? -1;
};

type Arrival = { linkId: string; arrivedAt: number };

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

const Webhook = z.object({ data: z.object({ paymentLinkId: z.string() }) });

/**
 * Starts one server that responds immediately and records the arrivals, and one that never
 * responds.
 */
const startReceivers = async () => {
  let arrivals: Arrival[] = [];
  let heldCount = 0;
  const liveServer = createServer((req, res) => {
    const arrivedAt = performance.now();
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      res.end();
      const { data } = Webhook.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      arrivals.push({ linkId: data.paymentLinkId, arrivedAt });
    });
  });
  const hangingServer = createServer((req, res) => {
    heldCount += 1;
    req.resume();
    res.on("close", () => (heldCount -= 1));
  });
  const servers = [liveServer, hangingServer];
  for (const server of servers) {
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
  return {
    livePort: (liveServer.address() as AddressInfo).port,
    hangingPort: (hangingServer.address() as AddressInfo).port,
    /** Returns the number of attempts that are currently waiting for a response. */
    heldCount: () => heldCount,
    /** Returns the arrivals since the last call. */
    takeArrivals: (): readonly Arrival[] => {
      const takenArrivals = arrivals;
      arrivals = [];
      return takenArrivals;
    },
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};
