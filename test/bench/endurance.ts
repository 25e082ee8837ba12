import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { percentile } from "../rig/percentile.ts";
import type { RealSystem } from "../rig/real-system.ts";
import { readResidentBytes } from "../rig/resident-memory.ts";
import { startBenchServers } from "./bench-servers.ts";
import { drawTimeline } from "./charts.ts";
import { type Bench, type BenchResult, compare, median, print } from "./harness.ts";
import { callEvenly, createLink, warmUp } from "./load.ts";
import { type Shop, hugeAmount, pay, startShop } from "./payments.ts";

const perSecond = Number(process.env["RATE"] ?? 500);
const minutes = Number(process.env["MINUTES"] ?? 10);
const sampleEveryMs = 10_000;
const warmUpStepSeconds = 15;
const retryMs = 1_000;
const attemptsMax = 60;

/**
 * The number of payments that complete a link, and the number of links that are open at the same
 * time. The open links are paid in turn.
 */
const paymentsPerLink = 10;
const openLinkCount = 100;

/**
 * Measures payments through the real services at a fixed rate: `RATE` (500) payments per second for
 * `MINUTES` (10) minutes. The tenth payment of a link completes it, and another link is created.
 * 100 links are open at a time.
 *
 * Every ten seconds it records:
 * - the latency of payments, from the response to the notice to the first byte of the webhook
 * - the resident memory of each service
 * - the lag of events
 * - the growth of tables and WAL
 *
 * `ours` is the p99 of the last third and `floor` the p99 of the first third, in milliseconds.
 * `memoryRatio`, `tableRatio` and `walRatio` compare the same thirds. `refusedCount` is the number
 * of notices that failed and were retried one second later, as a provider would do. `PICTURE` is
 * the path of a chart to write.
 */
export const benchEndurance: Bench = async (onEnd) => {
  const servers = await startBenchServers();
  onEnd(servers.close);
  const shop = await startShop(onEnd, {});
  const counts = { refusedCount: 0 };
  const payNext = createPayer(shop, counts);
  print(`warming up, then ${minutes} minutes at ${perSecond} a second`);
  await warmUp(payNext, { perSecond, stepSeconds: warmUpStepSeconds });
  counts.refusedCount = 0;
  const durationsMs: number[] = [];
  const payments = callEvenly(async () => void durationsMs.push(await payNext()), {
    count: minutes * 60 * perSecond,
    perSecond,
  });
  const [samples] = await Promise.all([readSamples(shop, durationsMs), payments]);
  const file = process.env["PICTURE"];
  if (file !== undefined) await writeFile(file, drawSamples(samples));
  return { ...summarize(samples), ...counts };
};

/**
 * Returns a function that pays an open link, or a new one if that link is complete. It returns the
 * milliseconds from the response to the notice until the webhook arrives.
 */
const createPayer = (shop: Shop, counts: { refusedCount: number }) => {
  const { merchant, system } = shop;
  const order = { toAmount: hugeAmount, maxUsage: paymentsPerLink };
  let count = 0;
  const links: Promise<{ id: string }>[] = [];
  const onRefused = async (status: number, attempt: number): Promise<void> => {
    if (attempt === attemptsMax) throw new Error(`a notice always got the response ${status}`);
    counts.refusedCount += 1;
    await sleep(retryMs);
  };
  return async (): Promise<number> => {
    const slot = count % openLinkCount;
    const isExhausted = (Math.floor(count / openLinkCount) + slot) % paymentsPerLink === 0;
    const link =
      (isExhausted ? undefined : links[slot]) ?? createLink(system.baseUrl, merchant.apiKey, order);
    links[slot] = link;
    count += 1;
    const { arrivedAt, committedAt } = await pay(shop, (await link).id, { onRefused });
    return arrivedAt - committedAt;
  };
};

/** The measurements of one interval of ten seconds. */
type Sample = {
  paidCount: number;
  p50Ms: number;
  p99Ms: number;
  memoryMib: Readonly<Record<string, number>>;
  lateSeconds: number;
  tableKibPerPayment: number;
  walKibPerPayment: number;
};

const readSamples = async ({ admin, system }: Shop, durationsMs: number[]): Promise<Sample[]> => {
  const samples: Sample[] = [];
  let sizesBefore = await readSizes(admin);
  const startedAt = performance.now();
  while (samples.length < (minutes * 60_000) / sampleEveryMs) {
    await sleep(startedAt + (samples.length + 1) * sampleEveryMs - performance.now());
    const sampleMs = durationsMs.splice(0);
    const [sizes, lateSeconds] = await Promise.all([readSizes(admin), readLatenessSeconds(system)]);
    const toKibPerPayment = (bytes: number) => bytes / 1_024 / Math.max(sampleMs.length, 1);
    const sample: Sample = {
      paidCount: sampleMs.length,
      p50Ms: percentile(sampleMs, 0.5),
      p99Ms: percentile(sampleMs, 0.99),
      memoryMib: Object.fromEntries(
        system.replicas.map((replica) => [
          replica.service,
          Math.round(readResidentBytes(replica.pid()) / 1_048_576),
        ]),
      ),
      lateSeconds,
      tableKibPerPayment: toKibPerPayment(sizes.tableBytes - sizesBefore.tableBytes),
      walKibPerPayment: toKibPerPayment(sizes.walBytes - sizesBefore.walBytes),
    };
    print(JSON.stringify(sample));
    samples.push(sample);
    sizesBefore = sizes;
  }
  return samples;
};

type Sizes = { tableBytes: number; walBytes: number };

const readSizes = async (admin: Client): Promise<Sizes> => {
  const { rows } = await admin.query<Sizes>(
    `SELECT pg_database_size(current_database())::float8 AS "tableBytes",
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"`,
  );
  const [sizes] = rows;
  if (sizes === undefined) throw new Error("the query returned no sizes");
  return sizes;
};

const latenessPattern =
  /^payment_links_(?:consumer_lag|webhook_oldest_due_age|outbox_oldest_unsent_age)_seconds(?:\{.*\})? ([0-9.e+-]+)$/gm;

/** Returns the age of the oldest item that a service still has to apply, relay or deliver. */
const readLatenessSeconds = async ({ replicas }: RealSystem): Promise<number> => {
  const texts = await Promise.all(
    replicas.map(async ({ internalPort }) => {
      const response = await fetch(`http://127.0.0.1:${internalPort}/metrics`);
      return response.text();
    }),
  );
  const latenesses = texts.flatMap((text) =>
    [...text.matchAll(latenessPattern)].map(([, value]) => Number(value)),
  );
  if (latenesses.length === 0) throw new Error("no service reports its lag");
  return Math.max(...latenesses);
};

const drawSamples = (samples: readonly Sample[]): string => {
  const createLine = (name: string, getValue: (sample: Sample) => number) => ({
    name,
    values: samples.map(getValue),
  });
  const services = Object.keys(samples[0]?.memoryMib ?? {});
  const title = `${perSecond} payments per second, accepted, credited and delivered`;
  return drawTimeline(title, minutes, [
    {
      title: "From the notice's response to the webhook, ms",
      lines: [createLine("p99", ({ p99Ms }) => p99Ms), createLine("p50", ({ p50Ms }) => p50Ms)],
    },
    {
      title: "Resident memory, MiB",
      lines: services.map((name) => createLine(name, ({ memoryMib }) => memoryMib[name] ?? 0)),
    },
    {
      title: "Age of the oldest pending item, s",
      lines: [createLine("events and webhooks", ({ lateSeconds }) => lateSeconds)],
    },
    {
      title: "Growth per payment, KiB",
      lines: [
        createLine("WAL", ({ walKibPerPayment }) => walKibPerPayment),
        createLine("tables and indexes", ({ tableKibPerPayment }) => tableKibPerPayment),
      ],
    },
  ]);
};

const summarize = (samples: readonly Sample[]): BenchResult => {
  const thirdLength = Math.floor(samples.length / 3);
  const compareThirds = (getValue: (sample: Sample) => number) =>
    compare(
      median(samples.slice(-thirdLength).map(getValue)),
      median(samples.slice(0, thirdLength).map(getValue)),
    );
  const sumMemory = ({ memoryMib }: Sample) =>
    Object.values(memoryMib).reduce((sum, mib) => sum + mib, 0);
  return {
    ...compareThirds(({ p99Ms }) => p99Ms),
    p50Ratio: compareThirds(({ p50Ms }) => p50Ms).ratio,
    memoryRatio: compareThirds(sumMemory).ratio,
    tableRatio: compareThirds(({ tableKibPerPayment }) => tableKibPerPayment).ratio,
    walRatio: compareThirds(({ walKibPerPayment }) => walKibPerPayment).ratio,
    lateSecondsMax: Math.max(...samples.map(({ lateSeconds }) => lateSeconds)),
  };
};
