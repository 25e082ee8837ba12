import type { Client } from "pg";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { waitUntil } from "@payment-links/runtime/testing";
import type { OnEnd } from "../bench/harness.ts";
import { createLink, runWorkers } from "../bench/load.ts";
import { type Shop, hugeAmount, startShop } from "../bench/payments.ts";
import { sendNotice } from "../rig/client.ts";
import { acmeProvider } from "../rig/shop-env.ts";
import { type Cost, createMeters } from "../bench/meters.ts";

/** The throughput of a step under full load, and its cost per link or payment. */
export type Step = Cost & { step: "create" | "accept" | "apply" | "deliver"; perSecond: number };

const callersAtOnce = 64;
/** The payments are spread over this many links. */
const paidLinkCount = 100;
const waitMsMax = 600_000;

/**
 * Creates links and waits until all services have received them. Then sends the payments through
 * one service after another, each with the full backlog:
 * - settlement-listener accepts and publishes the notices while the other services are stopped
 * - links-api applies and publishes them
 * - webhook-dispatcher delivers them
 *
 * links-api and webhook-dispatcher start in their own step, so its cost includes their JIT
 * compilation.
 */
export const profileCapacity = async (
  onEnd: OnEnd,
  { count }: { count: number },
): Promise<Step[]> => {
  const shop = await startShop(onEnd, {});
  const { admin, receiver } = shop;
  const startMeters = await createMeters(shop);
  const measure = async (
    step: Step["step"],
    countDone: () => Promise<number> | number,
    hasEnded: () => Promise<boolean>,
  ): Promise<Step> => {
    const hasBegun = async () => (await countDone()) || false;
    const startCount = await waitUntil(`${step} has begun`, hasBegun);
    const [endMeters, startedAt] = [await startMeters(), performance.now()];
    const isFinished = async () => (await countDone()) >= count && (await hasEnded());
    await waitUntil(step, isFinished, waitMsMax);
    const seconds = (performance.now() - startedAt) / 1_000;
    const doneCount = count - startCount;
    const cost = await endMeters(doneCount);
    return { step, perSecond: Math.round(doneCount / seconds), ...cost };
  };
  const countRows = (table: string) => () =>
    readValue<number>(admin, `SELECT count(*)::int AS value FROM ${table}`);
  const hasEmptied = (table: string) => () =>
    readValue<boolean>(admin, `SELECT NOT EXISTS (SELECT FROM ${table}) AS value`);
  const areLinksReceived = () =>
    readValue<boolean>(
      admin,
      `SELECT (SELECT count(*) FROM settlement_listener.links) >= ${count}
         AND (SELECT count(*) FROM webhook_dispatcher.links) >= ${count} AS value`,
    );

  const [create, linkIds] = await Promise.all([
    measure("create", countRows("links_api.links"), areLinksReceived),
    createLinks(shop, count),
  ]);
  const replicas = findReplicas(shop);
  for (const service of ["links-api", "webhook-dispatcher"] as const)
    await replicas(service).stop();
  const [accept] = await Promise.all([
    measure(
      "accept",
      countRows("settlement_listener.payments"),
      hasEmptied("settlement_listener.outbox"),
    ),
    sendNotices(shop, linkIds.slice(0, paidLinkCount), count),
  ]);
  await replicas("settlement-listener").stop();
  await replicas("links-api").start();
  const apply = await measure(
    "apply",
    countRows("links_api.payments"),
    hasEmptied("links_api.outbox"),
  );
  await replicas("links-api").stop();
  await replicas("webhook-dispatcher").start();
  const deliver = await measure(
    "deliver",
    receiver.countArrived,
    hasEmptied("webhook_dispatcher.deliveries"),
  );
  return [create, accept, apply, deliver];
};

const findReplicas =
  ({ system }: Shop) =>
  (service: ServiceName) => {
    const replica = system.replicas.find((replica) => replica.service === service);
    if (replica === undefined) throw new Error(`the service ${service} is missing`);
    return replica;
  };

const readValue = async <Value>(admin: Client, text: string): Promise<Value> => {
  const { rows } = await admin.query<{ value: Value }>(text);
  if (rows[0] === undefined) throw new Error("the query returned no row");
  return rows[0].value;
};

const createLinks = async ({ merchant, system }: Shop, count: number): Promise<string[]> => {
  const ids: string[] = [];
  await callAll(count, async () => {
    const { id } = await createLink(system.baseUrl, merchant.apiKey, { toAmount: hugeAmount });
    ids.push(id);
  });
  return ids;
};

const sendNotices = ({ system }: Shop, linkIds: readonly string[], count: number): Promise<void> =>
  callAll(count, async (index) => {
    const paymentLinkId = linkIds[index % linkIds.length] ?? "";
    const notice = { id: `pay_${index}`, paymentLinkId, status: "settled", amount: "1" } as const;
    const status = await sendNotice(system.baseUrl, acmeProvider, notice);
    if (status >= 300) throw new Error(`the notice got the response ${status}`);
  });

/** Makes calls with a concurrency of `callersAtOnce`. */
const callAll = (count: number, makeCall: (index: number) => Promise<void>): Promise<void> => {
  let startedCount = 0;
  return runWorkers(callersAtOnce, () => {
    if (startedCount === count) return false;
    startedCount += 1;
    return makeCall(startedCount);
  });
};
