import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { type Shop, openShop } from "../bench/open-shop.ts";
import { call, sendNotice } from "../rig/client.ts";
import type { RealSystem } from "../rig/real-system.ts";
import { acme } from "../rig/shop-env.ts";
import { type Meters, openMeters } from "./cost.ts";

/** What is borne while more waits than can be done, and what each link or payment then costs. */
export type Step = {
  step: "create" | "accept" | "apply" | "deliver";
  perSecond: number;
  cpuMs: Readonly<Record<string, number>>;
  commits: number;
  walKib: number;
};

const callersAtOnce = 64;
/** So many of the links are paid, by turns. */
const paidLinkCount = 100;
const waitMsMax = 600_000;

/**
 * Links created and heard of by all services, as many as payments. Then payments through one service after
 * the other, each with all of them waiting: notices taken and sent on by settlement-listener while nobody
 * else runs, applied and sent on by links-api, delivered by webhook-dispatcher. The last two begin anew
 * for their step, so what they compile is in the costs.
 */
export const profileCapacity = async ({ count }: { count: number }): Promise<Step[]> => {
  const shop = await openShop({ replicasPerService: 1 });
  const { receiver, system } = shop;
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const read = await openMeters(system, admin);
    const measure = async (
      step: Step["step"],
      doneCount: () => Promise<number> | number,
      end: () => Promise<boolean>,
    ): Promise<Step> => {
      const from = await waitUntil(`${step} to begin`, async () => (await doneCount()) || false);
      const [before, startedAt] = [await read(), performance.now()];
      const isOver = async () => (await doneCount()) >= count && (await end());
      await waitUntil(step, isOver, waitMsMax);
      const seconds = (performance.now() - startedAt) / 1_000;
      return stepOf(step, { before, after: await read(), seconds, count: count - from });
    };
    const isSent = (schema: string) => () =>
      isDone(admin, `SELECT NOT EXISTS (SELECT FROM ${schema}.outbox) AS done`);
    const countRows = (table: string) => async () =>
      (await admin.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`)).rows[0]
        ?.rows ?? 0;

    const areHeard = `SELECT (SELECT count(*) FROM settlement_listener.links) >= ${count}
      AND (SELECT count(*) FROM webhook_dispatcher.links) >= ${count} AS done`;
    const [create, linkIds] = await Promise.all([
      measure("create", countRows("links_api.links"), () => isDone(admin, areHeard)),
      createAll(shop, count),
    ]);
    for (const service of ["links-api", "webhook-dispatcher"] as const) {
      await replicaOf(system, service).stop();
    }
    const [accept] = await Promise.all([
      measure("accept", countRows("settlement_listener.payments"), isSent("settlement_listener")),
      tellAll(system, linkIds.slice(0, paidLinkCount), count),
    ]);
    await replicaOf(system, "settlement-listener").stop();
    await replicaOf(system, "links-api").start();
    const apply = await measure("apply", countRows("links_api.payments"), isSent("links_api"));
    await replicaOf(system, "links-api").stop();
    await replicaOf(system, "webhook-dispatcher").start();
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

const replicaOf = ({ replicas }: RealSystem, service: ServiceName) => {
  const found = replicas.find((replica) => replica.service === service);
  if (found === undefined) throw new Error(`there is no ${service}`);
  return found;
};

const isDone = async (admin: Client, text: string): Promise<boolean> =>
  (await admin.query<{ done: boolean }>(text)).rows[0]?.done ?? false;

const createAll = async ({ merchant, system }: Shop, count: number): Promise<string[]> => {
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

const tellAll = (
  { baseUrl }: RealSystem,
  linkIds: readonly string[],
  count: number,
): Promise<void> =>
  callAll(count, (index) => {
    const paymentLinkId = linkIds[index % linkIds.length] ?? "";
    const notice = { id: `pay_${index}`, paymentLinkId, status: "settled", amount: "1" } as const;
    return sendNotice(baseUrl, acme, notice);
  });

/** Makes calls, so many at a time. Each answers its status. */
const callAll = async (count: number, one: (index: number) => Promise<number>): Promise<void> => {
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const status = await one(begun);
      if (status >= 300) throw new Error(`a call was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callersAtOnce }, work));
};

const stepOf = (
  step: Step["step"],
  {
    after,
    before,
    count,
    seconds,
  }: { before: Meters; after: Meters; seconds: number; count: number },
): Step => {
  const share = (value: number): number => Number((value / count).toFixed(3));
  const used = Object.entries(after.cpuMs).map(
    ([name, ms]) => [name, share(ms - (before.cpuMs[name] ?? 0))] as const,
  );
  return {
    step,
    perSecond: Math.round(count / seconds),
    cpuMs: Object.fromEntries(used.filter(([, ms]) => ms > 0)),
    commits: share(after.commits - before.commits),
    walKib: share((after.walBytes - before.walBytes) / 1_024),
  };
};
