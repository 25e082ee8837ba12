import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Merchant, call, openMerchant, sendNotice, usdcOnBase } from "./rig/client.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { type Received, type Receiver, isSignedWith, openReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acme, shopEnv } from "./rig/shop-env.ts";
import { dumpSystem, findSecrets } from "./rig/secret-hunt.ts";
import type { System } from "./rig/system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const ways: [string, (env: Record<string, string>) => Promise<System>][] = [
  ["all-in-one, over the local bus", openAllInOneSystem],
  [
    "two replicas of each service, over Kafka and Redis",
    (env) => openRealSystem({ replicasPerService: 2, env }),
  ],
];

describe.each(ways)("%s", (_way, open) => {
  let system: System;
  let receiver: Receiver;
  let merchant: Merchant;
  let secret: string;

  beforeAll(async () => {
    receiver = await openReceiver();
    system = await open({
      ...shopEnv(receiver),
    });
    merchant = await openMerchant(system, "alice");
    ({ secret } = await registerEndpoint(system, merchant, "https://receiver.test/hook"));
  });

  afterAll(async () => {
    await system?.close();
    await receiver?.close();
  });

  const create = async (body: Record<string, unknown>) => {
    const created = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body,
    });
    expect(created.status).toBe(200);
    expect(Object.keys(created.body).sort()).toEqual(["id", "url"]);
    return String(created.body["id"]);
  };

  const retrieve = async (id: string) => {
    const answer = await call(`${system.baseUrl}/v1/payment-link/${id}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  const webhooksOf = (id: string): Received[] =>
    receiver.received.filter(({ body }) => body.data["paymentLinkId"] === id);

  test("a link is created, paid in two parts, completed, and each event told once, signed (rule HOOK-7)", async () => {
    const id = await create({ toAmount: "25", description: "Order 1001" });
    const fresh = await retrieve(id);
    expect(fresh).toMatchObject({ status: "active", toAmount: "25", receivedAmount: "0" });
    expect(fresh["user"]).toMatchObject({ handle: "alice", id: merchant.userId });

    const first = { id: `${id}-1`, paymentLinkId: id, amount: "10.5" };
    expect(await sendNotice(system.baseUrl, acme, { ...first, status: "processing" })).toBe(202);
    expect(await sendNotice(system.baseUrl, acme, { ...first, status: "settled" })).toBe(202);
    await waitUntil(
      "the first part",
      async () => (await retrieve(id))["receivedAmount"] === "10.5",
    );

    const second = { id: `${id}-2`, paymentLinkId: id, amount: "14.5", status: "settled" as const };
    expect(await sendNotice(system.baseUrl, acme, second)).toBe(202);
    expect(await sendNotice(system.baseUrl, acme, second)).toBe(202);
    const paid = await waitUntil("completion", async () => {
      const link = await retrieve(id);
      return link["status"] === "completed" ? link : undefined;
    });
    expect(paid["receivedAmount"]).toBe("25");

    const told = await waitUntil("three webhooks", () => {
      const webhooks = webhooksOf(id);
      return webhooks.length >= 3 ? webhooks : undefined;
    });
    expect(told.map(({ body }) => body.type).sort()).toEqual([
      "payment_link.completed",
      "payment_link.transaction.succeeded",
      "payment_link.transaction.succeeded",
    ]);
    expect(told.every((webhook) => isSignedWith(secret, webhook))).toBe(true);
    const completed = told.find(({ body }) => body.type === "payment_link.completed");
    expect(completed?.body.data).toEqual({
      amount: "25",
      ...usdcOnBase,
      currentUsage: 2,
      description: "Order 1001",
      maxUsage: null,
      paymentLinkId: id,
      receivedAmount: "25",
      status: "completed",
    });
    const page = await call(String(paid["transactionUrl"]));
    expect(page.status).toBe(200);
    expect(String(page.body["text"])).toContain("14.5");
  });

  test("a payment after completion is kept as unapplied, and told to nobody", async () => {
    const id = await create({ toAmount: "5", maxUsage: 1 });
    const pay = (name: string) =>
      sendNotice(system.baseUrl, acme, {
        id: `${id}-${name}`,
        paymentLinkId: id,
        amount: "5",
        status: "settled",
      });
    expect(await pay("first")).toBe(202);
    await waitUntil("completion", async () => (await retrieve(id))["status"] === "completed");
    expect(await pay("second")).toBe(202);
    const payments = await waitUntil("the unapplied payment", async () => {
      const answer = await call(`${system.baseUrl}/console/api/payment-links/${id}`, {
        headers: { cookie: merchant.cookie },
      });
      const listed = answer.body["payments"] as { applied: boolean; reason: string | null }[];
      return listed.length === 2 ? listed : undefined;
    });
    expect(payments.map(({ applied, reason }) => [applied, reason])).toEqual([
      [false, "completed"],
      [true, null],
    ]);
    expect((await retrieve(id))["receivedAmount"]).toBe("5");
    await waitUntil("both webhooks", () => webhooksOf(id).length >= 2);
    expect(webhooksOf(id)).toHaveLength(2);
  });

  test("a link made in the console is listed for the key, and a deactivated one takes nothing", async () => {
    const made = await call(`${system.baseUrl}/console/api/payment-links`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
      body: { toAmount: 7 },
    });
    const id = String(made.body["id"]);
    const list = await call(`${system.baseUrl}/v1/payment-link?status=active`, {
      headers: { "x-api-key": merchant.apiKey },
    });
    expect((list.body["data"] as { id: string }[]).map((link) => link.id)).toContain(id);
    const ended = await call(`${system.baseUrl}/console/api/payment-links/${id}/deactivate`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
    });
    expect(ended.body["status"]).toBe("inactive");
    expect((await retrieve(id))["status"]).toBe("inactive");
  });

  test("what a person did to keys, links and endpoints stands in one audit log, each deed once", async () => {
    const headers = { cookie: merchant.cookie };
    const actionsOf = async (query: string) => {
      const answer = await call(`${system.baseUrl}/console/api/audit-log?${query}`, { headers });
      expect(answer.status).toBe(200);
      const data = answer.body["data"] as { action: string }[];
      return data.map(({ action }) => action).sort();
    };
    await waitUntil(
      "the last deed of another service",
      async () => (await actionsOf("action=payment_link.deactivated")).length === 1,
    );
    expect(await actionsOf("action=payment_link")).toEqual([
      "payment_link.created",
      "payment_link.deactivated",
    ]);
    expect(await actionsOf("action=webhook_endpoint")).toEqual([
      "webhook_endpoint.added",
      "webhook_endpoint.secret_shown",
    ]);
    expect(await actionsOf("action=api_key")).toEqual(["api_key.created"]);
  });

  test("a revoked key is refused (rule CALLER-4)", async () => {
    const keys = await call(`${system.baseUrl}/console/api/api-keys`, {
      headers: { cookie: merchant.cookie },
    });
    const [key] = keys.body["data"] as { id: string }[];
    await call(`${system.baseUrl}/console/api/api-keys/${key?.id ?? ""}`, {
      method: "DELETE",
      headers: { cookie: merchant.cookie },
    });
    const refused = await waitUntil("the refusal", async () => {
      const answer = await call(`${system.baseUrl}/v1/payment-link`, {
        headers: { "x-api-key": merchant.apiKey },
      });
      return answer.status === 401 ? answer : undefined;
    });
    expect(refused.body).toEqual({
      errors: [{ code: "INVALID_API_KEY", message: expect.any(String) }],
    });
  });

  test("nothing that all this has left behind holds a secret", async () => {
    const secrets = {
      "the API key": merchant.apiKey,
      ...Object.fromEntries(
        merchant.cookie
          .split("; ")
          .map((pair) => [`the session: ${pair}`, pair.replace(/^[^=]*=/, "")]),
      ),
      "the webhook secret": secret,
      "the provider's secret": acme.secret,
    };
    const dump = isReal(system) ? await dumpSystem(system) : { log: system.output() };
    expect(findSecrets(secrets, dump)).toEqual([]);
  });
});

/** The all-in-one's database and topics are its own; what it keeps is what the services keep. */
const isReal = (system: System): system is RealSystem => "topicPrefix" in system;
