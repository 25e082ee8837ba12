import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { openAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Merchant, call, openMerchant, sendNotice } from "./rig/client.ts";
import { openRealSystem } from "./rig/real-system.ts";
import { type Receiver, openReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acme, shopEnv, unlimitedEnv } from "./rig/shop-env.ts";
import type { System } from "./rig/system.ts";

const linkCount = Number(process.env["LINKS"] ?? 2_000);
const paymentCount = Number(process.env["PAYMENTS"] ?? linkCount / 10);
/** Few enough that it is not the machine's own queue that is measured. */
const callsAtOnce = 4;
const payEveryMs = 200;
/** On a busy machine; told in one go, every link of the full run would stand before a webhook. */
const webhookMsMax = 60_000;
const minutesMax = 3 + (linkCount + paymentCount) / 5_000;
const partMsMax = minutesMax * 60_000;
const quietLinks = 20;
/** How webhooks fare on this machine by themselves, to compare. */
const quietMs = 5_000;

type Wiring = { system: System; internalUrlOf: (service: ServiceName) => string };

const ways: [string, (env: Record<string, string>) => Promise<Wiring>][] = [
  [
    "in the all-in-one",
    async (env) => {
      const system = await openAllInOneSystem(env);
      return { system, internalUrlOf: () => system.internalUrl };
    },
  ],
  [
    "over Kafka and Redis",
    async (env) => {
      const system = await openRealSystem({ replicasPerService: 1, env });
      const portOf = (name: ServiceName) =>
        system.replicas.find(({ service }) => service === name)?.internalPort ?? 0;
      return { system, internalUrlOf: (name) => `http://127.0.0.1:${portOf(name)}` };
    },
  ],
];

describe.each(ways)(`beside ${linkCount} links of another account, %s,`, (way, open) => {
  let receiver: Receiver;
  let wiring: Wiring;
  let quiet: Merchant;
  let loud: Merchant;
  const quietIds: string[] = [];
  const loudIds: string[] = [];
  /** When the webhook of a payment came, by the payment's amount, which no other has. */
  const arrivedAtMs = new Map<string, number>();
  let paidCount = 0;

  beforeAll(async () => {
    receiver = await openReceiver();
    receiver.answerWith(({ body }) => {
      const { transaction } = body.data;
      if (transaction !== undefined) {
        arrivedAtMs.set(String(transaction["amount"]), performance.now());
      }
      return 204;
    });
    wiring = await open({ ...shopEnv(receiver), ...unlimitedEnv });
    quiet = await openMerchant(wiring.system, "quiet");
    loud = await openMerchant(wiring.system, "loud");
    await registerEndpoint(wiring.system, quiet, "https://receiver.test/quiet");
    for (let index = 0; index < quietLinks; index += 1) quietIds.push(await createLink(quiet));
    await payOnce();
  });

  afterAll(async () => {
    await wiring?.system.close();
    await receiver?.close();
  });

  const createLink = async (merchant: Merchant): Promise<string> => {
    const created = await call(`${wiring.system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body: { toAmount: "999999999" },
    });
    if (created.status !== 200) throw new Error(`no link: ${JSON.stringify(created.body)}`);
    return String(created.body["id"]);
  };

  /** Pays a link of the quiet account; answers how long its webhook took from the notice on. */
  const payOnce = async (): Promise<number> => {
    paidCount += 1;
    const amount = `1.${String(paidCount).padStart(5, "0")}1`;
    const paymentLinkId = quietIds[paidCount % quietLinks] ?? "";
    const sentAtMs = performance.now();
    const notice = { id: `quiet-${amount}`, paymentLinkId, amount, status: "settled" as const };
    expect(await sendNotice(wiring.system.baseUrl, acme, notice)).toBe(202);
    const arrived = await waitUntil(
      `the webhook of ${amount}`,
      () => arrivedAtMs.get(amount),
      partMsMax,
    );
    return arrived - sentAtMs;
  };

  /** Pays again and again while something is under way, and tells how the webhooks fared. */
  const payBeside = async (what: string, work: () => Promise<void>): Promise<number> => {
    const startedAtMs = performance.now();
    const state = { isDone: false };
    const working = work().finally(() => (state.isDone = true));
    const paying: Promise<number>[] = [];
    while (!state.isDone) {
      paying.push(payOnce());
      await Promise.race([working, injectDelay("load pace", payEveryMs)]);
    }
    await working;
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    const tookMs = (await Promise.all(paying)).sort((a, b) => a - b);
    const at = (share: number) => Math.round(tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0);
    process.stderr.write(
      `${way}: ${what} in ${seconds} s; ${tookMs.length} webhooks of another ` +
        `account after ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms\n`,
    );
    return at(1);
  };

  test(
    "a webhook comes in time while nothing else is done",
    async () => {
      await payBeside("nothing", () => injectDelay("load pace", quietMs));
    },
    partMsMax,
  );

  /** Does something many times over, some of it at once. */
  const repeat = async (times: number, work: (index: number) => Promise<unknown>) => {
    let begun = 0;
    const one = async () => {
      while (begun < times) {
        begun += 1;
        await work(begun);
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, one));
  };

  test(
    "a webhook comes in time while they are made",
    async () => {
      const slowestMs = await payBeside(`${linkCount} creates`, () =>
        repeat(linkCount, async () => {
          const id = await createLink(loud);
          if (loudIds.length < paymentCount) loudIds.push(id);
        }),
      );
      expect(slowestMs).toBeLessThan(webhookMsMax);
    },
    partMsMax,
  );

  // So that there are payments to be told again, too.
  test(
    "a webhook comes in time while they are paid",
    async () => {
      const slowestMs = await payBeside(`${paymentCount} payments`, () =>
        repeat(paymentCount, async (index) => {
          const paymentLinkId = loudIds[index % loudIds.length] ?? "";
          const notice = { id: `loud-${index}`, paymentLinkId, amount: "1" };
          const status = await sendNotice(wiring.system.baseUrl, acme, {
            ...notice,
            status: "settled",
          });
          expect(status).toBe(202);
        }),
      );
      expect(slowestMs).toBeLessThan(webhookMsMax);
    },
    partMsMax,
  );

  test.each([
    ["payment-links", "links-api", linkCount + quietLinks],
    ["settlements", "settlement-listener", paymentCount],
  ] as const)(
    "a webhook comes in time while %s are told again",
    async (what, service, countMin) => {
      const url = `${wiring.internalUrlOf(service)}/internal/republish/${what}`;
      const webhooks = () => receiver.received.length;
      const slowestMs = await payBeside(`republish ${what}`, async () => {
        expect((await call(url, { method: "POST" })).status).toBe(202);
        const told = await waitUntil(
          "the end",
          async () => {
            const { body } = await call(url);
            return body["endedAt"] !== null && body;
          },
          partMsMax,
        );
        expect(told["publishedCount"]).toBeGreaterThanOrEqual(countMin);
      });
      expect(slowestMs).toBeLessThan(webhookMsMax);
      expect(webhooks()).toBe(paidCount);
    },
    partMsMax,
  );
});
