import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "./rig/shop-env.ts";
import type { System } from "./rig/system.ts";

const linkCount = Number(process.env["LINKS"] ?? 2_000);
const paymentCount = Number(process.env["PAYMENTS"] ?? linkCount / 10);
/**
 * The number of concurrent calls. With more calls, the test would measure the load of the machine.
 */
const concurrentCalls = 4;
const payEveryMs = 200;
/**
 * High enough for a busy machine. If everything were republished in one batch, a webhook in the
 * full run would wait for all links and take longer than this.
 */
const webhookMsMax = 60_000;
const minutesMax = 3 + (linkCount + paymentCount) / 5_000;
const testMsMax = minutesMax * 60_000;
const quietLinkCount = 20;
/** How long to measure webhooks without load, for comparison. */
const baselineMs = 5_000;

type WiredSystem = { system: System; getInternalUrl: (service: ServiceName) => string };

const wiringVariants: [string, (env: Record<string, string>) => Promise<WiredSystem>][] = [
  [
    "in the all-in-one",
    async (env) => {
      const system = await startAllInOneSystem(env);
      return { system, getInternalUrl: () => system.internalUrl };
    },
  ],
  [
    "over Kafka and Redis",
    async (env) => {
      const system = await startRealSystem({ replicasPerService: 1, env });
      const getInternalPort = (name: ServiceName) =>
        system.replicas.find(({ service }) => service === name)?.internalPort ?? 0;
      return { system, getInternalUrl: (name) => `http://127.0.0.1:${getInternalPort(name)}` };
    },
  ],
];

describe.each(wiringVariants)(
  `with ${linkCount} links of another account, %s,`,
  (wiringName, startWiredSystem) => {
    let receiver: WebhookReceiver;
    let wired: WiredSystem;
    let quietMerchant: Merchant;
    let loudMerchant: Merchant;
    const quietLinkIds: string[] = [];
    const loudLinkIds: string[] = [];
    /** The arrival of each payment's webhook, keyed by the payment's unique amount. */
    const arrivedAtMsByAmount = new Map<string, number>();
    let paidCount = 0;

    beforeAll(async () => {
      receiver = await startReceiver();
      receiver.setResponder(({ body }) => {
        const { transaction } = body.data;
        if (transaction !== undefined) {
          arrivedAtMsByAmount.set(String(transaction["amount"]), performance.now());
        }
        return 204;
      });
      wired = await startWiredSystem({ ...buildShopEnv(receiver), ...unlimitedEnv });
      quietMerchant = await createMerchant(wired.system, "quiet");
      loudMerchant = await createMerchant(wired.system, "loud");
      await registerEndpoint(wired.system, quietMerchant, "https://receiver.test/quiet");
      for (let index = 0; index < quietLinkCount; index += 1)
        quietLinkIds.push(await createLink(quietMerchant));
      await payQuietLink();
    });

    afterAll(async () => {
      await wired?.system.close();
      await receiver?.close();
    });

    const createLink = async (merchant: Merchant): Promise<string> => {
      const created = await call(`${wired.system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body: { toAmount: "999999999" },
      });
      if (created.status !== 200)
        throw new Error(`the link was not created: ${JSON.stringify(created.body)}`);
      return String(created.body["id"]);
    };

    /** Pays a link of the quiet account. Returns the time from the notice to its webhook. */
    const payQuietLink = async (): Promise<number> => {
      paidCount += 1;
      const amount = `1.${String(paidCount).padStart(5, "0")}1`;
      const paymentLinkId = quietLinkIds[paidCount % quietLinkCount] ?? "";
      const sentAtMs = performance.now();
      const notice = { id: `quiet-${amount}`, paymentLinkId, amount, status: "settled" as const };
      expect(await sendNotice(wired.system.baseUrl, acmeProvider, notice)).toBe(202);
      const arrivedAt = await waitUntil(
        `the webhook of the payment of ${amount} arrives`,
        () => arrivedAtMsByAmount.get(amount),
        testMsMax,
      );
      return arrivedAt - sentAtMs;
    };

    /**
     * Makes payments repeatedly during an operation. Prints and returns the times until their
     * webhooks arrive.
     */
    const payDuring = async (
      description: string,
      operation: () => Promise<void>,
    ): Promise<number> => {
      const startedAtMs = performance.now();
      const progress = { isDone: false };
      const operationPromise = operation().finally(() => (progress.isDone = true));
      const pendingPayments: Promise<number>[] = [];
      while (!progress.isDone) {
        pendingPayments.push(payQuietLink());
        await Promise.race([operationPromise, injectDelay("load pace", payEveryMs)]);
      }
      await operationPromise;
      const durationSeconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
      const durationsMs = (await Promise.all(pendingPayments)).sort((a, b) => a - b);
      const getPercentileMs = (fraction: number) =>
        Math.round(durationsMs[Math.ceil(durationsMs.length * fraction) - 1] ?? 0);
      process.stderr.write(
        `${wiringName}: ${description} in ${durationSeconds} s; ${durationsMs.length} webhooks of another ` +
          `account after ${getPercentileMs(0.5)} ms, p99 ${getPercentileMs(0.99)} ms, at most ${getPercentileMs(1)} ms\n`,
      );
      return getPercentileMs(1);
    };

    test(
      "a webhook arrives in time without other work",
      async () => {
        await payDuring("no other work", () => injectDelay("load pace", baselineMs));
      },
      testMsMax,
    );

    /** Runs `work` the given number of times with limited concurrency. */
    const repeatConcurrently = async (
      callCount: number,
      work: (index: number) => Promise<unknown>,
    ) => {
      let startedCount = 0;
      const runWorker = async () => {
        while (startedCount < callCount) {
          startedCount += 1;
          await work(startedCount);
        }
      };
      await Promise.all(Array.from({ length: concurrentCalls }, runWorker));
    };

    test(
      "a webhook arrives in time while the links are created",
      async () => {
        const slowestMs = await payDuring(`${linkCount} creates`, () =>
          repeatConcurrently(linkCount, async () => {
            const id = await createLink(loudMerchant);
            if (loudLinkIds.length < paymentCount) loudLinkIds.push(id);
          }),
        );
        expect(slowestMs).toBeLessThan(webhookMsMax);
      },
      testMsMax,
    );

    // Creates payments, so that there are payments to republish.
    test(
      "a webhook arrives in time while the links are paid",
      async () => {
        const slowestMs = await payDuring(`${paymentCount} payments`, () =>
          repeatConcurrently(paymentCount, async (index) => {
            const paymentLinkId = loudLinkIds[index % loudLinkIds.length] ?? "";
            const notice = { id: `loud-${index}`, paymentLinkId, amount: "1" };
            const status = await sendNotice(wired.system.baseUrl, acmeProvider, {
              ...notice,
              status: "settled",
            });
            expect(status).toBe(202);
          }),
        );
        expect(slowestMs).toBeLessThan(webhookMsMax);
      },
      testMsMax,
    );

    test.each([
      ["payment-links", "links-api", linkCount + quietLinkCount],
      ["settlements", "settlement-listener", paymentCount],
    ] as const)(
      "a webhook arrives in time while %s are republished",
      async (topicName, service, publishedCountMin) => {
        const url = `${wired.getInternalUrl(service)}/internal/republish/${topicName}`;
        const getWebhookCount = () => receiver.received.length;
        const slowestMs = await payDuring(`republish ${topicName}`, async () => {
          expect((await call(url, { method: "POST" })).status).toBe(202);
          const republishStatus = await waitUntil(
            "the republish ends",
            async () => {
              const { body } = await call(url);
              return body["endedAt"] !== null && body;
            },
            testMsMax,
          );
          expect(republishStatus["publishedCount"]).toBeGreaterThanOrEqual(publishedCountMin);
        });
        expect(slowestMs).toBeLessThan(webhookMsMax);
        expect(getWebhookCount()).toBe(paidCount);
      },
      testMsMax,
    );
  },
);
