import { waitUntil } from "@payment-links/runtime/testing";
import { call, sendNotice } from "../rig/client.ts";
import { acme } from "../rig/shop-env.ts";
import { type BareReplicas, openBareReplicas } from "./bare-replicas.ts";
import { openBenchServers } from "./bench-servers.ts";
import { measureRate, median } from "./load.ts";
import { type Shop, openShop } from "./open-shop.ts";
import type { Verdict } from "./rounds.ts";

const replicaCounts = [1, 2, 4] as const;
const roundCount = Number(process.env["ROUNDS"] ?? 5);
const createSeconds = 4;
const warmUpRounds = 3;
const paymentsPerRound = 1_000;
const linksPerRound = 50;
/** So many that each of four replicas has more than it can do: fewer would measure what a lone call costs. */
const callerCount = Number(process.env["CALLERS"] ?? 160);
const waitMsMax = 120_000;

/** All a second. `bare` are creates of bare processes, as many as there are replicas. */
type Rates = { creates: number; payments: number; bare: number };

type Opened = { shop: Shop; bare: BareReplicas };

/**
 * What two and four replicas of each service do on the same cores as one: links created a second, and
 * payments a second from their notices to the last webhook. `ours` is the rate of the worse of both with
 * more replicas, `floor` that with one; `ratio` is to stay above 0.9. `bareRatios` says what bare processes
 * that create links keep of one's rate. All sets stand side by side on one Postgres and one Kafka, and are
 * asked by turns.
 */
export const benchReplicas = async (): Promise<Verdict> => {
  const servers = await openBenchServers({ max_connections: "400" });
  const closings: (() => Promise<void>)[] = [servers.close];
  const opened: Opened[] = [];
  try {
    for (const count of replicaCounts) {
      const shop = await openShop({ replicasPerService: count });
      closings.push(shop.close);
      const bare = await openBareReplicas(count);
      closings.push(bare.close);
      opened.push({ bare, shop });
    }
    const rates = opened.map((): Rates[] => []);
    // Each process compiles its code by itself: with more of them, it takes as many times more to warm up.
    for (const [index, one] of opened.entries()) {
      const times = warmUpRounds * (replicaCounts[index] ?? 1);
      for (let warmed = 0; warmed < times; warmed += 1) await measure(one);
    }
    for (let round = 0; round < roundCount; round += 1) {
      const order = [...opened.keys()];
      for (const at of round % 2 === 0 ? order : order.toReversed()) {
        const one = opened[at];
        if (one !== undefined) rates[at]?.push(await measure(one));
      }
    }
    return verdictOf(rates);
  } finally {
    for (const close of closings.toReversed()) await close();
  }
};

const measure = async ({ bare, shop }: Opened): Promise<Rates> => {
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
  let left = paymentsPerRound;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      paymentCount += 1;
      const paymentLinkId = linkIds[paymentCount % linkIds.length] ?? "";
      const notice = { id: `pay_${paymentCount}`, paymentLinkId, status: "settled" } as const;
      const status = await sendNotice(system.baseUrl, acme, { ...notice, amount: "1" });
      if (status >= 300) throw new Error(`the notice was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callerCount }, work));
  const areTold = () => receiver.received.length >= paymentsPerRound;
  await waitUntil(() => `${receiver.received.length} webhooks`, areTold, waitMsMax);
  return paymentsPerRound / ((performance.now() - startedAt) / 1_000);
};

const verdictOf = (rates: readonly (readonly Rates[])[]): Verdict => {
  const compare = (name: keyof Rates) => {
    const medians = rates.map((rounds) => median(rounds.map((round) => round[name])));
    process.stdout.write(
      `${name}/s with ${replicaCounts.join(", ")}: ${medians.map((rate) => rate.toFixed(0)).join(", ")}\n`,
    );
    const [floor = Number.NaN, ...more] = medians;
    return more.map((ours, index) => ({
      measured: name,
      replicas: replicaCounts[index + 1],
      ours: Number(ours.toFixed(1)),
      floor: Number(floor.toFixed(1)),
      ratio: Number((ours / floor).toFixed(3)),
    }));
  };
  const verdicts = [...compare("creates"), ...compare("payments")];
  const worst = verdicts.toSorted((one, other) => one.ratio - other.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return { ...worst, verdicts, bareRatios: compare("bare").map(({ ratio }) => ratio) };
};
