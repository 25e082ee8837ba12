import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { openLinks } from "../bench/latency.ts";
import { sendNotice } from "../rig/client.ts";
import { openReceiver } from "../rig/receiver.ts";
import { type RealSystem, openRealSystem } from "../rig/real-system.ts";
import { acme, shopEnv } from "../rig/shop-env.ts";
import { type Meters, openMeters } from "./cost.ts";

/** What one service bears while more waits than it can do, and what each payment then costs. */
export type Step = {
  step: "accept" | "apply" | "deliver";
  perSecond: number;
  cpuMs: Readonly<Record<string, number>>;
  commits: number;
  walKib: number;
};

const callersAtOnce = 64;
const waitMsMax = 600_000;

/**
 * Payments through one service after the other, each with all of them waiting: notices taken and sent on by
 * settlement-listener while nobody else runs, applied and sent on by links-api, delivered by
 * webhook-dispatcher. A service begins anew for its step, so what it compiles is in the costs.
 */
export const profileCapacity = async ({ count }: { count: number }): Promise<Step[]> => {
  const receiver = await openReceiver();
  const system = await openRealSystem({
    replicasPerService: 1,
    redisDatabase: 0,
    env: {
      ...shopEnv(receiver),
      RATE_LIMIT_PER_IP: "100000:100000",
      RATE_LIMIT_PER_KEY: "100000:100000",
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const read = await openMeters(system, admin);
    const linkIds = await openLinks(system);
    const areHeard = `SELECT count(*) >= ${linkIds.length} AS done FROM settlement_listener.links`;
    await waitUntil("the links to be heard of", () => isDone(admin, areHeard));
    for (const service of ["links-api", "webhook-dispatcher"] as const) {
      await replicaOf(system, service).stop();
    }
    const measure = async (
      step: Step["step"],
      doneCount: () => Promise<number> | number,
      end: () => Promise<boolean>,
    ): Promise<Step> => {
      const from = await waitUntil(`${step} to begin`, async () => (await doneCount()) || false);
      const [before, startedAt] = [await read(), performance.now()];
      await waitUntil(step, async () => (await doneCount()) >= count && (await end()), waitMsMax);
      const seconds = (performance.now() - startedAt) / 1_000;
      return stepOf(step, { before, after: await read(), seconds, count: count - from });
    };
    const isSent = (schema: string) => () =>
      isDone(admin, `SELECT NOT EXISTS (SELECT FROM ${schema}.outbox) AS done`);
    const countRows = (table: string) => async () =>
      (await admin.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`)).rows[0]
        ?.rows ?? 0;

    const [accept] = await Promise.all([
      measure("accept", countRows("settlement_listener.payments"), isSent("settlement_listener")),
      tellAll(system, linkIds, count),
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
    return [accept, apply, deliver];
  } finally {
    await admin.end();
    await system.close();
    await receiver.close();
  }
};

const replicaOf = ({ replicas }: RealSystem, service: ServiceName) => {
  const found = replicas.find((replica) => replica.service === service);
  if (found === undefined) throw new Error(`there is no ${service}`);
  return found;
};

const isDone = async (admin: Client, text: string): Promise<boolean> =>
  (await admin.query<{ done: boolean }>(text)).rows[0]?.done ?? false;

/** Sends notices, so many at a time. */
const tellAll = async (
  { baseUrl }: RealSystem,
  linkIds: readonly string[],
  count: number,
): Promise<void> => {
  let told = 0;
  const tell = async (): Promise<void> => {
    while (told < count) {
      told += 1;
      const paymentLinkId = linkIds[told % linkIds.length] ?? "";
      const notice = { id: `pay_${told}`, paymentLinkId, status: "settled" } as const;
      const status = await sendNotice(baseUrl, acme, { ...notice, amount: "1" });
      if (status >= 300) throw new Error(`the notice was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callersAtOnce }, tell));
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
