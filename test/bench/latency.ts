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

/** Returns the number of milliseconds within which the given percentage of the events arrived. */
type Latency = { p50: number; p99: number };

/**
 * Measures the time from a committed settlement, when the provider has its response, to the first
 * byte of the webhook at the receiver. It runs all four services with `REPLICAS` (1) replicas each,
 * at `RATE` (50) payments per second. Compares this, in turns, with producing and consuming a
 * record on the same broker. `ratio` compares the medians and `ratioP99` the 99th percentiles.
 * `chain` is the duration of the same steps with only bare clients: a record, a commit, a record, a
 * commit and a call, one after the other.
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

/** Starts calls at a fixed rate, whether or not earlier calls have ended. */
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
    // The rejection is reported at the end. If it were unhandled until then, the process would exit
    // and leave its servers running.
    callResult.catch(() => {});
    running.push(callResult);
  }
  return Promise.all(running);
};

/**
 * Makes calls at increasing rates, because a process cannot handle a high rate before its code is
 * JIT-compiled.
 */
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
 * Creates links of one account, and the account's endpoint at `receiver.test`. No bench pays enough
 * to complete these links. Waits until settlement-listener has received the links. Otherwise, a
 * payment would be deferred until its link arrives, and would continue in another trace.
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
  await waitUntil("the services have received the links", areLinksReceived).finally(() =>
    admin.end(),
  );
  return ids;
};

let paymentCount = 0;

/**
 * Sends the notice of one payment. Returns the milliseconds from the response to the first byte of
 * the webhook.
 */
export const payOne = async (
  system: RealSystem,
  receiver: ArrivalReceiver,
  linkIds: readonly string[],
  index: number,
): Promise<number> => {
  paymentCount += 1;
  // The amount identifies the payment in the webhook. It must not end in zero, because webhooks
  // omit trailing zeros.
  const amount = `1.${String(paymentCount).padStart(5, "0")}1`;
  const paymentLinkId = linkIds[index % linkIds.length] ?? "";
  const notice = { id: `pay_${paymentCount}`, paymentLinkId, status: "settled", amount } as const;
  const status = await sendNotice(system.baseUrl, acmeProvider, notice);
  const committedAt = performance.now();
  if (status >= 300) throw new Error(`the notice got the response ${status}`);
  return (await receiver.arrival(amount)) - committedAt;
};

type ArrivalReceiver = { port: number; arrival(amount: string): Promise<number>; close(): void };

const Webhook = z.object({
  data: z.object({ transaction: z.object({ amount: z.string() }).optional() }),
});

/**
 * Starts a receiver of webhooks that records when the first byte of each payment's webhook arrives.
 */
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
