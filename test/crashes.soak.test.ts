import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const linkCount = 50;
const paymentsPerLink = 10;
const killCount = 10;
const noticeAttemptsMax = 400;

type Payment = { linkId: string; id: string; amount: string };

describe("500 payments on 50 links while services are killed", () => {
  let system: RealSystem;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let admin: Client;
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    receiver = await startReceiver();
    system = await startRealSystem({
      replicasPerService: 1,
      env: {
        ...buildShopEnv(receiver),
        // The attempts of a killed dispatcher are retried soon, which keeps the test short.
        WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,1,1,1,1,1",
        WEBHOOK_TIMEOUT_SECONDS: "2",
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
      },
    });
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
    merchant = await createMerchant(system, "crashes");
    for (const path of ["/one", "/two"]) {
      const { secret } = await registerEndpoint(system, merchant, `https://receiver.test${path}`);
      secrets.set(path, secret);
    }
  });

  afterAll(async () => {
    await admin?.end();
    await system?.close();
    await receiver?.close();
  });

  const createLinks = async (): Promise<Payment[]> => {
    const payments: Payment[] = [];
    for (let index = 0; index < linkCount; index += 1) {
      const amounts = Array.from(
        { length: paymentsPerLink },
        (_, paymentIndex) => `${paymentIndex + 1}.${index + 10}`,
      );
      const totalCents = amounts.reduce((sum, amount) => sum + BigInt(amount.replace(".", "")), 0n);
      const exactAmount = `${totalCents / 100n}.${(totalCents % 100n).toString().padStart(2, "0")}`;
      // Half of the links complete when their amount is reached, and the other half after a number
      // of payments.
      const body =
        index % 2 === 0
          ? { toAmount: exactAmount }
          : { toAmount: "99999", maxUsage: paymentsPerLink };
      const created = await call(`${system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body,
      });
      const linkId = String(created.body["id"]);
      amounts.forEach((amount, paymentIndex) =>
        payments.push({ linkId, id: `${linkId}-${paymentIndex}`, amount }),
      );
    }
    return shuffle(payments);
  };

  test("sum up exactly, produce each event once per endpoint, and none is lost", async () => {
    const payments = await createLinks();
    const killOrder = shuffle([
      ...system.replicas,
      ...system.replicas,
      ...shuffle([...system.replicas]).slice(0, killCount - 2 * system.replicas.length),
    ]);
    let pendingNoticeCount = 0;
    let resentNoticeCount = 0;

    const sendUntilAccepted = async (payment: Payment, status: "processing" | "settled") => {
      pendingNoticeCount += 1;
      for (let attempt = 0; attempt < noticeAttemptsMax; attempt += 1) {
        if (attempt > 0) resentNoticeCount += 1;
        try {
          const { id, amount, linkId } = payment;
          const notice = { id, amount, status, paymentLinkId: linkId };
          if ((await sendNotice(system.baseUrl, acmeProvider, notice)) === 202) break;
        } catch {
          // The provider cannot know whether its notice arrived, so it sends it again.
        }
        await injectDelay("load pace", 100);
      }
      pendingNoticeCount -= 1;
    };
    const countUnsentRows = async () => {
      const { rows } = await admin.query<{ count: string }>(`
        SELECT (SELECT count(*) FROM settlement_listener.outbox)
             + (SELECT count(*) FROM links_api.outbox) AS count`);
      return Number(rows[0]?.count);
    };

    for (const [round, replica] of killOrder.entries()) {
      const roundPayments = payments
        .slice((round * payments.length) / killCount)
        .slice(0, payments.length / killCount);
      const sendPromises = roundPayments.flatMap((payment) => [
        sendUntilAccepted(payment, "processing"),
        sendUntilAccepted(payment, "settled"),
      ]);
      const pendingAtKill = await waitUntil("work is pending", async () => {
        const unsentRowCount = await countUnsentRows();
        return pendingNoticeCount > 0 || unsentRowCount > 0
          ? { pendingNoticeCount, unsentRowCount }
          : undefined;
      });
      await replica.kill();
      process.stderr.write(
        `kill ${round + 1}: ${replica.service}, ${pendingAtKill.pendingNoticeCount} notices without a response, ` +
          `${pendingAtKill.unsentRowCount} outbox rows unsent\n`,
      );
      expect(pendingAtKill.pendingNoticeCount + pendingAtKill.unsentRowCount).toBeGreaterThan(0);
      await replica.start();
      await Promise.all(sendPromises);
    }

    const getDistinctEventIds = () =>
      new Set(receiver.received.map(({ headers }) => headers["service-event-id"]));
    const expected = 2 * (payments.length + linkCount);
    await waitUntil(`${expected} webhooks`, () => getDistinctEventIds().size >= expected);
    await waitUntil("all outboxes are empty", async () => (await countUnsentRows()) === 0);

    const duplicateWebhookCount = receiver.received.length - getDistinctEventIds().size;
    process.stderr.write(
      `redeliveries: ${resentNoticeCount} notices sent again, ${duplicateWebhookCount} webhooks repeated\n`,
    );
    expect(resentNoticeCount + duplicateWebhookCount).toBeGreaterThan(0);
    expect(getDistinctEventIds().size).toBe(expected);

    const byLink = Map.groupBy(payments, ({ linkId }) => linkId);
    for (const [linkId, linkPayments] of byLink) {
      const { body } = await call(`${system.baseUrl}/v1/payment-link/${linkId}`);
      const totalCents = linkPayments.reduce(
        (sum, { amount }) => sum + BigInt(amount.replace(".", "")),
        0n,
      );
      expect(body["status"]).toBe("completed");
      expect(BigInt(toCents(String(body["receivedAmount"])))).toBe(totalCents);
    }
    for (const path of secrets.keys()) {
      const endpointWebhooks = receiver.received.filter((webhook) => webhook.path === path);
      const webhooksByEvent = Map.groupBy(endpointWebhooks, ({ body: { type, data } }) =>
        [type, data["paymentLinkId"], data.transaction?.["id"] ?? ""].join(" "),
      );
      expect(webhooksByEvent.size).toBe(payments.length + linkCount);
      for (const webhooks of webhooksByEvent.values()) {
        expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(1);
      }
      expect(
        endpointWebhooks.every((webhook) => isSignedWith(secrets.get(path) ?? "", webhook)),
      ).toBe(true);
    }
  }, 600_000);
});

const toCents = (amount: string): string => {
  const [integerPart = "", fraction = ""] = amount.split(".");
  return integerPart + fraction.padEnd(2, "0");
};

const shuffle = <Item>(items: Item[]): Item[] => {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index -= 1) {
    const otherIndex = randomInt(index + 1);
    [shuffled[index], shuffled[otherIndex]] = [
      shuffled[otherIndex] as Item,
      shuffled[index] as Item,
    ];
  }
  return shuffled;
};
