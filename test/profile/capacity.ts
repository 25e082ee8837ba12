import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { type Shop, createShop } from "../bench/create-shop.ts";
import { call, sendNotice } from "../rig/client.ts";
import type { RealSystem } from "../rig/real-system.ts";
import { acmeProvider } from "../rig/shop-env.ts";
import { type Meters, createMeters } from "./cost.ts";

/** The throughput of a step under full load, and its cost per link or payment. */
export type Step = {
  step: "create" | "accept" | "apply" | "deliver";
  perSecond: number;
  cpuMs: Readonly<Record<string, number>>;
  commits: number;
  walKib: number;
};

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
export const profileCapacity = async ({ count }: { count: number }): Promise<Step[]> => {
  const shop = await createShop({ replicasPerService: 1 });
  const { receiver, system } = shop;
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const readMeters = await createMeters(system, admin);
    const measure = async (
      step: Step["step"],
      countDone: () => Promise<number> | number,
      hasEnded: () => Promise<boolean>,
    ): Promise<Step> => {
      const startCount = await waitUntil(
        `${step} has begun`,
        async () => (await countDone()) || false,
      );
      const [metersBefore, startedAt] = [await readMeters(), performance.now()];
      const isFinished = async () => (await countDone()) >= count && (await hasEnded());
      await waitUntil(step, isFinished, waitMsMax);
      const seconds = (performance.now() - startedAt) / 1_000;
      return toStep(step, {
        before: metersBefore,
        after: await readMeters(),
        seconds,
        count: count - startCount,
      });
    };
    const hasSentOutbox = (schema: string) => () =>
      isDone(admin, `SELECT NOT EXISTS (SELECT FROM ${schema}.outbox) AS done`);
    const countRows = (table: string) => async () =>
      (await admin.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`)).rows[0]
        ?.rows ?? 0;

    const linksReceivedQuery = `SELECT (SELECT count(*) FROM settlement_listener.links) >= ${count}
      AND (SELECT count(*) FROM webhook_dispatcher.links) >= ${count} AS done`;
    const [create, linkIds] = await Promise.all([
      measure("create", countRows("links_api.links"), () => isDone(admin, linksReceivedQuery)),
      createAllLinks(shop, count),
    ]);
    for (const service of ["links-api", "webhook-dispatcher"] as const) {
      await findReplica(system, service).stop();
    }
    const [accept] = await Promise.all([
      measure(
        "accept",
        countRows("settlement_listener.payments"),
        hasSentOutbox("settlement_listener"),
      ),
      sendAllNotices(system, linkIds.slice(0, paidLinkCount), count),
    ]);
    await findReplica(system, "settlement-listener").stop();
    await findReplica(system, "links-api").start();
    const apply = await measure(
      "apply",
      countRows("links_api.payments"),
      hasSentOutbox("links_api"),
    );
    await findReplica(system, "links-api").stop();
    await findReplica(system, "webhook-dispatcher").start();
    const deliver = await measure(
      "deliver",
      () => receiver.received.length,
      () => isDone(admin, "SELECT NOT EXISTS (SELECT FROM webhook_dispatcher.deliveries) AS done"),
    );
    return [create, accept, apply, deliver];
  } finally {
    await admin.end();
    await shop.close();
  }
};

const findReplica = ({ replicas }: RealSystem, service: ServiceName) => {
  const replica = replicas.find((replica) => replica.service === service);
  if (replica === undefined) throw new Error(`the service ${service} is missing`);
  return replica;
};

const isDone = async (admin: Client, query: string): Promise<boolean> =>
  (await admin.query<{ done: boolean }>(query)).rows[0]?.done ?? false;

const createAllLinks = async ({ merchant, system }: Shop, count: number): Promise<string[]> => {
  const headers = { "x-api-key": merchant.apiKey };
  const order = { method: "POST", headers, body: { toAmount: "1000000" } } as const;
  const ids: string[] = [];
  await callAll(count, async () => {
    const { body, status } = await call(`${system.baseUrl}/v1/payment-link`, order);
    ids.push(String(body["id"]));
    return status;
  });
  return ids;
};

const sendAllNotices = (
  { baseUrl }: RealSystem,
  linkIds: readonly string[],
  count: number,
): Promise<void> =>
  callAll(count, (index) => {
    const paymentLinkId = linkIds[index % linkIds.length] ?? "";
    const notice = { id: `pay_${index}`, paymentLinkId, status: "settled", amount: "1" } as const;
    return sendNotice(baseUrl, acmeProvider, notice);
  });

/** Makes calls with a concurrency of `callersAtOnce`. Each call must resolve with its status. */
const callAll = async (
  count: number,
  makeCall: (index: number) => Promise<number>,
): Promise<void> => {
  let startedCount = 0;
  const runWorker = async (): Promise<void> => {
    while (startedCount < count) {
      startedCount += 1;
      const status = await makeCall(startedCount);
      if (status >= 300) throw new Error(`a call got the response ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callersAtOnce }, runWorker));
};

const toStep = (
  step: Step["step"],
  {
    after,
    before,
    count,
    seconds,
  }: { before: Meters; after: Meters; seconds: number; count: number },
): Step => {
  const perItem = (value: number): number => Number((value / count).toFixed(3));
  const cpuMsPerItem = Object.entries(after.cpuMs).map(
    ([name, ms]) => [name, perItem(ms - (before.cpuMs[name] ?? 0))] as const,
  );
  return {
    step,
    perSecond: Math.round(count / seconds),
    cpuMs: Object.fromEntries(cpuMsPerItem.filter(([, ms]) => ms > 0)),
    commits: perItem(after.commits - before.commits),
    walKib: perItem((after.walBytes - before.walBytes) / 1_024),
  };
};
