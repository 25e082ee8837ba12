import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { call, createMerchant, sendNotice } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { startBenchServers } from "./bench-servers.ts";
import { callEvenly, startArrivalReceiver, warmUp } from "./latency.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";
import { drawTimeline } from "./timeline-picture.ts";

const perSecond = Number(process.env["RATE"] ?? 500);
const minutes = Number(process.env["MINUTES"] ?? 10);
const sampleEveryMs = 10_000;
const warmUpStepSeconds = 15;
const bytesPerPage = 4_096;
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
export const benchEndurance = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const receiver = await startArrivalReceiver();
  const system = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...buildShopEnv(receiver),
      ...unlimitedEnv,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const counts: RejectedCounts = { refusedCount: 0 };
    const pay = await createPay(system, receiver, counts);
    process.stdout.write(`warming up, then ${minutes} minutes at ${perSecond} a second\n`);
    await warmUp(pay, { perSecond, stepSeconds: warmUpStepSeconds });
    counts.refusedCount = 0;
    const durationsMs: number[] = [];
    const payments = callEvenly(
      async () => {
        durationsMs.push(await pay());
      },
      { count: minutes * 60 * perSecond, perSecond },
    );
    const [samples] = await Promise.all([readSamples(system, admin, durationsMs), payments]);
    await drawPicture(samples);
    return { ...summarize(samples), ...counts };
  } finally {
    await admin.end();
    await system.close();
    receiver.close();
    await servers.close();
  }
};

type Arrivals = Awaited<ReturnType<typeof startArrivalReceiver>>;

type RejectedCounts = { refusedCount: number };

/**
 * Pays an open link. Creates a new one if the link is complete. Returns the milliseconds from the
 * response to the notice until the webhook arrives.
 */
const createPay = async (system: RealSystem, receiver: Arrivals, counts: RejectedCounts) => {
  const merchant = await createMerchant(system, "bench");
  await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const create = async (): Promise<string> => {
    const { status, body } = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body: { toAmount: "1000000000000", maxUsage: paymentsPerLink },
    });
    if (status !== 200) throw new Error(`creating a link got the response ${status}`);
    return String(body["id"]);
  };
  let count = 0;
  const linkIds: Promise<string>[] = [];
  return async (): Promise<number> => {
    const slot = count % openLinkCount;
    const isExhausted = (Math.floor(count / openLinkCount) + slot) % paymentsPerLink === 0;
    const linkId = (isExhausted ? undefined : linkIds[slot]) ?? create();
    linkIds[slot] = linkId;
    count += 1;
    // The amount identifies the payment in the webhook. It must not end in zero, because webhooks
    // omit trailing zeros.
    const amount = `${count}.1`;
    const id = `pay_${count}`;
    const notice = {
      id,
      paymentLinkId: await linkId,
      status: "settled",
      amount,
    } as const;
    for (
      let attempts = 1;
      (await sendNotice(system.baseUrl, acmeProvider, notice)) >= 300;
      attempts += 1
    ) {
      if (attempts === attemptsMax)
        throw new Error(`the notice ${id} was rejected ${attemptsMax} times`);
      counts.refusedCount += 1;
      await sleep(retryMs);
    }
    const answeredAt = performance.now();
    return (await receiver.arrival(amount)) - answeredAt;
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

const readSamples = async (
  system: RealSystem,
  admin: Client,
  durationsMs: number[],
): Promise<Sample[]> => {
  const samples: Sample[] = [];
  let sizesBefore = await readSizes(admin);
  const startedAt = performance.now();
  for (
    let sampleNumber = 1;
    sampleNumber <= (minutes * 60_000) / sampleEveryMs;
    sampleNumber += 1
  ) {
    await sleep(startedAt + sampleNumber * sampleEveryMs - performance.now());
    const sampleDurationsMs = durationsMs.splice(0);
    const [sizes, lateSeconds] = await Promise.all([readSizes(admin), readLatenessSeconds(system)]);
    const paidCount = Math.max(sampleDurationsMs.length, 1);
    const sample: Sample = {
      paidCount: sampleDurationsMs.length,
      p50Ms: percentile(sampleDurationsMs, 0.5),
      p99Ms: percentile(sampleDurationsMs, 0.99),
      memoryMib: Object.fromEntries(
        system.replicas.map((replica) => [replica.service, readResidentMib(replica.pid())]),
      ),
      lateSeconds,
      tableKibPerPayment: (sizes.tableBytes - sizesBefore.tableBytes) / 1_024 / paidCount,
      walKibPerPayment: (sizes.walBytes - sizesBefore.walBytes) / 1_024 / paidCount,
    };
    process.stdout.write(`${JSON.stringify(sample)}\n`);
    samples.push(sample);
    sizesBefore = sizes;
  }
  return samples;
};

const readResidentMib = (pid: number): number => {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return Math.round((pages * bytesPerPage) / 1_048_576);
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

const drawPicture = async (samples: readonly Sample[]): Promise<void> => {
  const file = process.env["PICTURE"];
  if (file === undefined) return;
  const createLine = (name: string, getValue: (sample: Sample) => number) => ({
    name,
    values: samples.map(getValue),
  });
  const services = Object.keys(samples[0]?.memoryMib ?? {});
  const title = `${perSecond} payments per second, accepted, credited and delivered`;
  const svg = drawTimeline(title, minutes, [
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
  await writeFile(file, svg);
};

const summarize = (samples: readonly Sample[]): BenchResult => {
  const thirdLength = Math.floor(samples.length / 3);
  const compare = (getValue: (sample: Sample) => number) => {
    const floor = median(samples.slice(0, thirdLength).map(getValue));
    const ours = median(samples.slice(-thirdLength).map(getValue));
    return {
      ours: Number(ours.toFixed(2)),
      floor: Number(floor.toFixed(2)),
      ratio: Number((ours / floor).toFixed(2)),
    };
  };
  const sumMemory = ({ memoryMib }: Sample) =>
    Object.values(memoryMib).reduce((sum, mib) => sum + mib, 0);
  return {
    ...compare(({ p99Ms }) => p99Ms),
    p50Ratio: compare(({ p50Ms }) => p50Ms).ratio,
    memoryRatio: compare(sumMemory).ratio,
    tableRatio: compare(({ tableKibPerPayment }) => tableKibPerPayment).ratio,
    walRatio: compare(({ walKibPerPayment }) => walKibPerPayment).ratio,
    lateSecondsMax: Math.max(...samples.map(({ lateSeconds }) => lateSeconds)),
  };
};
