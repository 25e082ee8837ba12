import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { call, createMerchant, sendNotice } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { type BareClients, createBareClients } from "./bare-clients.ts";
import { startBenchServers } from "./bench-servers.ts";
import { createInstants } from "./instants.ts";
import type { BenchResult } from "./rounds.ts";

const rate = Number(process.env["RATE"] ?? 50);
const replicasPerService = Number(process.env["REPLICAS"] ?? 1);
const roundCount = Number(process.env["ROUNDS"] ?? 3);
const secondsPerRound = 10;
const warmUpStepSeconds = 5;
const linkCount = 100;

/** The milliseconds within which that share of the events arrived. */
type Latency = { p50: number; p99: number };

/**
 * From a settlement that is committed (the provider has its answer) to the first byte of its
 * webhook at the receiver, over all four services with `REPLICAS` (1) of each, at `RATE` (50) a second;
 * compared with produce and consume on the same broker, by turns. `ratio` is that of the medians,
 * `ratioP99` that of the 99th percentiles. `chain` is what the same way takes by bare clients alone: a record,
 * a commit, a record, a commit and a call, one after the other.
 */
export const benchLatency = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const receiver = await startArrivalReceiver();
  const system = await startRealSystem({
    replicasPerService,
    env: {
      ...buildShopEnv(receiver),
      ...unlimitedEnv,
    },
  });
  const bare = await createBareClients({
    topic: `${system.topicPrefix}round-trip`,
    adminUrl: system.adminUrl,
  });
  try {
    const linkIds = await createLinks(system);
    const paths = {
      ours: (index: number) => payOne(system, receiver, linkIds, index),
      floor: bare.record,
      chain: () => runBarePath(bare),
    };
    const callOptions = { count: secondsPerRound * rate, perSecond: rate };
    for (const path of Object.values(paths)) {
      await warmUp(path, { perSecond: rate, stepSeconds: warmUpStepSeconds });
    }
    const durationsByPath: Record<keyof typeof paths, number[]> = {
      ours: [],
      floor: [],
      chain: [],
    };
    for (let round = 0; round < roundCount; round += 1) {
      const roundTexts: string[] = [];
      for (const name of ["ours", "floor", "chain"] as const) {
        const durationsMs = await callEvenly(paths[name], callOptions);
        roundTexts.push(`${name} ${formatLatency(toLatency(durationsMs))}`);
        durationsByPath[name].push(...durationsMs);
      }
      process.stdout.write(`${roundTexts.join("; ")}\n`);
    }
    return summarize(
      toLatency(durationsByPath.ours),
      toLatency(durationsByPath.floor),
      toLatency(durationsByPath.chain),
    );
  } finally {
    await bare.close();
    await system.close();
    receiver.close();
    await servers.close();
  }
};

const runBarePath = async (bare: BareClients): Promise<number> => {
  let tookMs = 0;
  for (const step of [bare.record, bare.commit, bare.record, bare.commit, bare.call]) {
    tookMs += await step();
  }
  return tookMs;
};

const summarize = (ours: Latency, floor: Latency, chain: Latency): BenchResult => ({
  ours: Number(ours.p50.toFixed(2)),
  floor: Number(floor.p50.toFixed(2)),
  ratio: Number((ours.p50 / floor.p50).toFixed(2)),
  oursP99: Number(ours.p99.toFixed(2)),
  floorP99: Number(floor.p99.toFixed(2)),
  ratioP99: Number((ours.p99 / floor.p99).toFixed(2)),
  chain: Number(chain.p50.toFixed(2)),
  chainP99: Number(chain.p99.toFixed(2)),
});

const formatLatency = ({ p50, p99 }: Latency): string =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

const toLatency = (durationsMs: readonly number[]): Latency => ({
  p50: percentile(durationsMs, 0.5),
  p99: percentile(durationsMs, 0.99),
});

/** Begins calls one after another at a fixed rate, whether or not earlier ones have ended. */
export const callEvenly = async <Result>(
  call: (index: number) => Promise<Result>,
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Result[]> => {
  const startedAt = performance.now();
  const running: Promise<Result>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueInMs = startedAt + (index * 1000) / perSecond - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    const callResult = call(index);
    // Told at the end: a rejection that nobody awaits yet would end the process, and leave its servers.
    callResult.catch(() => {});
    running.push(callResult);
  }
  return Promise.all(running);
};

/** Calls at growing rates, as a process that has compiled nothing yet does not bear a high one. */
export const warmUp = async (
  call: (index: number) => Promise<unknown>,
  { perSecond, stepSeconds }: { perSecond: number; stepSeconds: number },
): Promise<void> => {
  for (const rate of [50, 100, 200, 300, 400].filter((step) => step < perSecond)) {
    await callEvenly(call, { count: stepSeconds * rate, perSecond: rate });
  }
  await callEvenly(call, { count: stepSeconds * perSecond, perSecond });
};

/**
 * Opens links of one account, each far from paid, and the account's endpoint at `receiver.test`. A payment of a
 * link that settlement-listener has not heard of yet would wait for that, and be told in another trace.
 */
export const createLinks = async (system: RealSystem): Promise<string[]> => {
  const merchant = await createMerchant(system, "bench");
  await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const ids: string[] = [];
  for (let index = 0; index < linkCount; index += 1) {
    const link = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body: { toAmount: "1000000" },
    });
    ids.push(String(link.body["id"]));
  }
  const admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  const linksReceivedQuery = "SELECT FROM settlement_listener.links WHERE id = ANY($1)";
  const areLinksReceived = async () =>
    (await admin.query(linksReceivedQuery, [ids])).rowCount === ids.length;
  await waitUntil("the links are heard of", areLinksReceived).finally(() => admin.end());
  return ids;
};

let paymentCount = 0;

/** Sends one payment's notice; answers the milliseconds from its answer to the first byte of the webhook. */
export const payOne = async (
  system: RealSystem,
  receiver: ArrivalReceiver,
  linkIds: readonly string[],
  index: number,
): Promise<number> => {
  paymentCount += 1;
  // The webhook is recognised by its amount. The amount must not end in a zero, so that it comes
  // back as it is.
  const amount = `1.${String(paymentCount).padStart(5, "0")}1`;
  const paymentLinkId = linkIds[index % linkIds.length] ?? "";
  const notice = { id: `pay_${paymentCount}`, paymentLinkId, status: "settled", amount } as const;
  const status = await sendNotice(system.baseUrl, acmeProvider, notice);
  const committedAt = performance.now();
  if (status >= 300) throw new Error(`the notice was answered ${status}`);
  return (await receiver.arrival(amount)) - committedAt;
};

type ArrivalReceiver = { port: number; arrival(amount: string): Promise<number>; close(): void };

const Webhook = z.object({
  data: z.object({ transaction: z.object({ amount: z.string() }).optional() }),
});

/** Takes webhooks, and notes when the first byte of each payment's came. */
export const startArrivalReceiver = async (): Promise<ArrivalReceiver> => {
  const arrivals = createInstants();
  const server = createServer((req, res) => {
    const arrivedAt = performance.now();
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      res.end();
      const { data } = Webhook.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      if (data.transaction !== undefined) arrivals.record(data.transaction.amount, arrivedAt);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arrival: arrivals.waitFor,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
