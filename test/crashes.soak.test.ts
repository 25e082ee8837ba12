import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { type Merchant, call, openMerchant, sendNotice } from "./rig/client.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { type Receiver, isSignedWith, openReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acme, shopEnv } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const linkCount = 50;
const paymentsPerLink = 10;
const killCount = 10;
const noticeTriesMax = 400;

type Payment = { linkId: string; id: string; amount: string };

describe("500 payments on 50 links while services are killed", () => {
  let system: RealSystem;
  let receiver: Receiver;
  let merchant: Merchant;
  let admin: Client;
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    receiver = await openReceiver();
    system = await openRealSystem({
      replicasPerService: 1,
      env: {
        ...shopEnv(receiver),
        // A killed dispatcher's attempt is tried again soon, so that the test need not wait long.
        WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,1,1,1,1,1",
        WEBHOOK_TIMEOUT_SECONDS: "2",
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
      },
    });
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
    merchant = await openMerchant(system, "crashes");
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

  const openLinks = async (): Promise<Payment[]> => {
    const payments: Payment[] = [];
    for (let index = 0; index < linkCount; index += 1) {
      const amounts = Array.from({ length: paymentsPerLink }, (_, n) => `${n + 1}.${index + 10}`);
      const total = amounts.reduce((sum, amount) => sum + BigInt(amount.replace(".", "")), 0n);
      const exact = `${total / 100n}.${(total % 100n).toString().padStart(2, "0")}`;
      // Half of the links complete by their amount, half by their number of uses.
      const body =
        index % 2 === 0 ? { toAmount: exact } : { toAmount: "99999", maxUsage: paymentsPerLink };
      const created = await call(`${system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body,
      });
      const linkId = String(created.body["id"]);
      amounts.forEach((amount, n) => payments.push({ linkId, id: `${linkId}-${n}`, amount }));
    }
    return shuffle(payments);
  };

  test("sums are exact, each event is told once per endpoint, and nothing is lost", async () => {
    const payments = await openLinks();
    const order = shuffle([
      ...system.replicas,
      ...system.replicas,
      ...shuffle([...system.replicas]).slice(0, killCount - 2 * system.replicas.length),
    ]);
    let unanswered = 0;
    let resent = 0;

    const tell = async (payment: Payment, status: "processing" | "settled") => {
      unanswered += 1;
      for (let attempt = 0; attempt < noticeTriesMax; attempt += 1) {
        if (attempt > 0) resent += 1;
        try {
          const { id, amount, linkId } = payment;
          const notice = { id, amount, status, paymentLinkId: linkId };
          if ((await sendNotice(system.baseUrl, acme, notice)) === 202) break;
        } catch {
          // The provider cannot know whether its notice arrived, so it sends it again.
        }
        await injectDelay("load pace", 100);
      }
      unanswered -= 1;
    };
    const unsentRows = async () => {
      const { rows } = await admin.query<{ count: string }>(`
        SELECT (SELECT count(*) FROM settlement_listener.outbox)
             + (SELECT count(*) FROM links_api.outbox) AS count`);
      return Number(rows[0]?.count);
    };

    for (const [round, replica] of order.entries()) {
      const share = payments
        .slice((round * payments.length) / killCount)
        .slice(0, payments.length / killCount);
      const telling = share.flatMap((payment) => [
        tell(payment, "processing"),
        tell(payment, "settled"),
      ]);
      const atKill = await waitUntil("work under way", async () => {
        const unsent = await unsentRows();
        return unanswered > 0 || unsent > 0 ? { unanswered, unsent } : undefined;
      });
      await replica.kill();
      process.stderr.write(
        `kill ${round + 1}: ${replica.service}, ${atKill.unanswered} notices unanswered, ` +
          `${atKill.unsent} outbox rows unsent\n`,
      );
      expect(atKill.unanswered + atKill.unsent).toBeGreaterThan(0);
      await replica.start();
      await Promise.all(telling);
    }

    const distinct = () =>
      new Set(receiver.received.map(({ headers }) => headers["service-event-id"]));
    const expected = 2 * (payments.length + linkCount);
    await waitUntil(`${expected} webhooks`, () => distinct().size >= expected);
    await waitUntil("empty outboxes", async () => (await unsentRows()) === 0);

    const repeats = receiver.received.length - distinct().size;
    process.stderr.write(
      `redeliveries: ${resent} notices sent again, ${repeats} webhooks repeated\n`,
    );
    expect(resent + repeats).toBeGreaterThan(0);
    expect(distinct().size).toBe(expected);

    const byLink = Map.groupBy(payments, ({ linkId }) => linkId);
    for (const [linkId, its] of byLink) {
      const { body } = await call(`${system.baseUrl}/v1/payment-link/${linkId}`);
      const total = its.reduce((sum, { amount }) => sum + BigInt(amount.replace(".", "")), 0n);
      expect(body["status"]).toBe("completed");
      expect(BigInt(hundredths(String(body["receivedAmount"])))).toBe(total);
    }
    for (const path of secrets.keys()) {
      const told = receiver.received.filter((webhook) => webhook.path === path);
      const idsByFact = Map.groupBy(told, ({ body: { type, data } }) =>
        [type, data["paymentLinkId"], data.transaction?.["id"] ?? ""].join(" "),
      );
      expect(idsByFact.size).toBe(payments.length + linkCount);
      for (const webhooks of idsByFact.values()) {
        expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(1);
      }
      expect(told.every((webhook) => isSignedWith(secrets.get(path) ?? "", webhook))).toBe(true);
    }
  }, 600_000);
});

const hundredths = (amount: string): string => {
  const [whole = "", fraction = ""] = amount.split(".");
  return whole + fraction.padEnd(2, "0");
};

const shuffle = <Item>(items: Item[]): Item[] => {
  const mixed = [...items];
  for (let index = mixed.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [mixed[index], mixed[other]] = [mixed[other] as Item, mixed[index] as Item];
  }
  return mixed;
};
