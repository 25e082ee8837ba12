import { waitUntil } from "@payment-links/runtime/testing";
import { call, sendNotice } from "../rig/client.ts";
import { acmeProvider } from "../rig/shop-env.ts";
import { type BareReplicas, startBareReplicas } from "./bare-replicas.ts";
import { startBenchServers } from "./bench-servers.ts";
import { measureRate, median } from "./load.ts";
import { type Shop, createShop } from "./create-shop.ts";
import type { BenchResult } from "./rounds.ts";

const replicaCounts = [1, 2, 4] as const;
const roundCount = Number(process.env["ROUNDS"] ?? 5);
const createSeconds = 4;
const warmUpRounds = 3;
const paymentsPerRound = 1_000;
const linksPerRound = 50;
/**
 * Enough callers to saturate four replicas. With fewer callers, the bench would measure the latency
 * of a single call.
 */
const callerCount = Number(process.env["CALLERS"] ?? 160);
const waitMsMax = 120_000;

/**
 * Rates per second. `bare` is the create rate of the baseline, which has one process per replica.
 */
type Rates = { creates: number; payments: number; bare: number };

type ReplicaSet = { shop: Shop; bare: BareReplicas };

/**
 * Compares two and four replicas of each service with one replica on the same cores. Measures links
 * created per second, and payments per second from their notices to the last webhook. `ours` is the
 * lower rate of the sets with two and four replicas, and `floor` is the rate of one replica.
 * `ratio` should stay above 0.9. `bareRatios` compares several baseline processes that create links
 * with a single one. All sets keep running on one Postgres and one Kafka, and are measured one at a
 * time.
 */
export const benchReplicas = async (): Promise<BenchResult> => {
  const servers = await startBenchServers({ max_connections: "400" });
  const closeFunctions: (() => Promise<void>)[] = [servers.close];
  const replicaSets: ReplicaSet[] = [];
  try {
    for (const count of replicaCounts) {
      const shop = await createShop({ replicasPerService: count });
      closeFunctions.push(shop.close);
      const bare = await startBareReplicas(count);
      closeFunctions.push(bare.close);
      replicaSets.push({ bare, shop });
    }
    const rates = replicaSets.map((): Rates[] => []);
    // Each process JIT-compiles its own code, so the warm-up grows with the number of processes.
    for (const [index, replicaSet] of replicaSets.entries()) {
      const warmUpCount = warmUpRounds * (replicaCounts[index] ?? 1);
      for (let warmedCount = 0; warmedCount < warmUpCount; warmedCount += 1)
        await measureRates(replicaSet);
    }
    for (let round = 0; round < roundCount; round += 1) {
      const order = [...replicaSets.keys()];
      for (const index of round % 2 === 0 ? order : order.toReversed()) {
        const replicaSet = replicaSets[index];
        if (replicaSet !== undefined) rates[index]?.push(await measureRates(replicaSet));
      }
    }
    return summarize(rates);
  } finally {
    for (const close of closeFunctions.toReversed()) await close();
  }
};

const measureRates = async ({ bare, shop }: ReplicaSet): Promise<Rates> => {
  const { system, receiver, merchant } = shop;
  const headers = { "x-api-key": merchant.apiKey };
  const create = {
    method: "POST",
    path: "/v1/payment-link",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ toAmount: "1000000", description: "Order 1001" }),
  } as const;
  const measureCreates = ({ baseUrl }: { baseUrl: string }) =>
    measureRate(baseUrl, () => create, createSeconds, callerCount);
  const [creates, bareCreates] = [await measureCreates(system), await measureCreates(bare)];
  const linkIds: string[] = [];
  for (let index = 0; index < linksPerRound; index += 1) {
    const { body } = await call(`${system.baseUrl}${create.path}`, {
      method: "POST",
      headers,
      body: { toAmount: "1000000" },
    });
    linkIds.push(String(body["id"]));
  }
  const payments = await measurePayments(system, receiver, linkIds);
  return { creates, payments, bare: bareCreates };
};

let paymentCount = 0;

const measurePayments = async (
  system: Shop["system"],
  receiver: Shop["receiver"],
  linkIds: readonly string[],
): Promise<number> => {
  receiver.received.length = 0;
  const startedAt = performance.now();
  let remainingPayments = paymentsPerRound;
  const runWorker = async (): Promise<void> => {
    while (remainingPayments > 0) {
      remainingPayments -= 1;
      paymentCount += 1;
      const paymentLinkId = linkIds[paymentCount % linkIds.length] ?? "";
      const notice = { id: `pay_${paymentCount}`, paymentLinkId, status: "settled" } as const;
      const status = await sendNotice(system.baseUrl, acmeProvider, { ...notice, amount: "1" });
      if (status >= 300) throw new Error(`the notice got the response ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callerCount }, runWorker));
  const haveArrived = () => receiver.received.length >= paymentsPerRound;
  await waitUntil(
    () => `all webhooks arrive; received ${receiver.received.length}`,
    haveArrived,
    waitMsMax,
  );
  return paymentsPerRound / ((performance.now() - startedAt) / 1_000);
};

const summarize = (rates: readonly (readonly Rates[])[]): BenchResult => {
  const compareToOne = (name: keyof Rates) => {
    const medians = rates.map((rounds) => median(rounds.map((round) => round[name])));
    process.stdout.write(
      `${name}/s with ${replicaCounts.join(", ")}: ${medians.map((rate) => rate.toFixed(0)).join(", ")}\n`,
    );
    const [floor = Number.NaN, ...multipleReplicaMedians] = medians;
    return multipleReplicaMedians.map((ours, index) => ({
      measured: name,
      replicas: replicaCounts[index + 1],
      ours: Number(ours.toFixed(1)),
      floor: Number(floor.toFixed(1)),
      ratio: Number((ours / floor).toFixed(3)),
    }));
  };
  const verdicts = [...compareToOne("creates"), ...compareToOne("payments")];
  const worst = verdicts.toSorted((first, second) => first.ratio - second.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return { ...worst, verdicts, bareRatios: compareToOne("bare").map(({ ratio }) => ratio) };
};
