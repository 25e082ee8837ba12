import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Merchant, call, createMerchant, sendNotice, usdcOnBase } from "./rig/client.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import {
  type ReceivedWebhook,
  type WebhookReceiver,
  isSignedWith,
  startReceiver,
} from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import { dumpSystem, findSecrets } from "./rig/find-leaked-secrets.ts";
import type { System } from "./rig/system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const wiringVariants: [string, (env: Record<string, string>) => Promise<System>][] = [
  ["all-in-one, over the local bus", startAllInOneSystem],
  [
    "two replicas of each service, over Kafka and Redis",
    (env) => startRealSystem({ replicasPerService: 2, env }),
  ],
];

describe.each(wiringVariants)("%s", (_case, startSystem) => {
  let system: System;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let secret: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    system = await startSystem({
      ...buildShopEnv(receiver),
    });
    merchant = await createMerchant(system, "alice");
    ({ secret } = await registerEndpoint(system, merchant, "https://receiver.test/hook"));
  });

  afterAll(async () => {
    await system?.close();
    await receiver?.close();
  });

  const createLink = async (body: Record<string, unknown>) => {
    const created = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body,
    });
    expect(created.status).toBe(200);
    expect(Object.keys(created.body).sort()).toEqual(["id", "url"]);
    return String(created.body["id"]);
  };

  const readLink = async (id: string) => {
    const response = await call(`${system.baseUrl}/v1/payment-link/${id}`);
    expect(response.status).toBe(200);
    return response.body;
  };

  const listWebhooks = (id: string): ReceivedWebhook[] =>
    receiver.received.filter(({ body }) => body.data["paymentLinkId"] === id);

  test("a link is created, paid in two parts and completed, and each event is delivered once, signed (rule HOOK-7)", async () => {
    const id = await createLink({ toAmount: "25", description: "Order 1001" });
    const newLink = await readLink(id);
    expect(newLink).toMatchObject({ status: "active", toAmount: "25", receivedAmount: "0" });
    expect(newLink["user"]).toMatchObject({ handle: "alice", id: merchant.userId });

    const firstNotice = { id: `${id}-1`, paymentLinkId: id, amount: "10.5" };
    expect(
      await sendNotice(system.baseUrl, acmeProvider, { ...firstNotice, status: "processing" }),
    ).toBe(202);
    expect(
      await sendNotice(system.baseUrl, acmeProvider, { ...firstNotice, status: "settled" }),
    ).toBe(202);
    await waitUntil(
      "the first part is credited",
      async () => (await readLink(id))["receivedAmount"] === "10.5",
    );

    const secondNotice = {
      id: `${id}-2`,
      paymentLinkId: id,
      amount: "14.5",
      status: "settled" as const,
    };
    expect(await sendNotice(system.baseUrl, acmeProvider, secondNotice)).toBe(202);
    expect(await sendNotice(system.baseUrl, acmeProvider, secondNotice)).toBe(202);
    const completedLink = await waitUntil("the link is completed", async () => {
      const link = await readLink(id);
      return link["status"] === "completed" ? link : undefined;
    });
    expect(completedLink["receivedAmount"]).toBe("25");

    const webhooks = await waitUntil("three webhooks arrive", () => {
      const linkWebhooks = listWebhooks(id);
      return linkWebhooks.length >= 3 ? linkWebhooks : undefined;
    });
    expect(webhooks.map(({ body }) => body.type).sort()).toEqual([
      "payment_link.completed",
      "payment_link.transaction.succeeded",
      "payment_link.transaction.succeeded",
    ]);
    expect(webhooks.every((webhook) => isSignedWith(secret, webhook))).toBe(true);
    const completedWebhook = webhooks.find(({ body }) => body.type === "payment_link.completed");
    expect(completedWebhook?.body.data).toEqual({
      amount: "25",
      ...usdcOnBase,
      currentUsage: 2,
      description: "Order 1001",
      maxUsage: null,
      paymentLinkId: id,
      receivedAmount: "25",
      status: "completed",
    });
    const page = await call(String(completedLink["transactionUrl"]));
    expect(page.status).toBe(200);
    expect(String(page.body["text"])).toContain("14.5");
  });

  test("a payment after completion is stored as unapplied, and sends one webhook with the reason (rule HOOK-21)", async () => {
    const id = await createLink({ toAmount: "5", maxUsage: 1 });
    const sendSettledNotice = (suffix: string) =>
      sendNotice(system.baseUrl, acmeProvider, {
        id: `${id}-${suffix}`,
        paymentLinkId: id,
        amount: "5",
        status: "settled",
      });
    expect(await sendSettledNotice("first")).toBe(202);
    await waitUntil(
      "the link is completed",
      async () => (await readLink(id))["status"] === "completed",
    );
    expect(await sendSettledNotice("second")).toBe(202);
    const allPayments = await waitUntil("the unapplied payment is listed", async () => {
      const response = await call(`${system.baseUrl}/console/api/payment-links/${id}`, {
        headers: { cookie: merchant.cookie },
      });
      const payments = response.body["payments"] as { applied: boolean; reason: string | null }[];
      return payments.length === 2 ? payments : undefined;
    });
    expect(allPayments.map(({ applied, reason }) => [applied, reason])).toEqual([
      [false, "completed"],
      [true, null],
    ]);
    expect((await readLink(id))["receivedAmount"]).toBe("5");
    const webhooks = await waitUntil("all webhooks arrive", () => {
      const received = listWebhooks(id);
      return received.length >= 3 && received;
    });
    expect(webhooks.map(({ body }) => body.type).toSorted()).toEqual([
      "payment_link.completed",
      "payment_link.transaction.succeeded",
      "payment_link.transaction.unapplied",
    ]);
    const unapplied = webhooks.find(({ body }) => body.type.endsWith("unapplied"));
    expect(unapplied?.body.data.transaction).toMatchObject({ reason: "completed", amount: "5" });
  });

  test("a link created in the console is listed for the key, and a deactivated one accepts no payment", async () => {
    const created = await call(`${system.baseUrl}/console/api/payment-links`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
      body: { toAmount: 7 },
    });
    const id = String(created.body["id"]);
    const listResponse = await call(`${system.baseUrl}/v1/payment-link?status=active`, {
      headers: { "x-api-key": merchant.apiKey },
    });
    expect((listResponse.body["data"] as { id: string }[]).map((link) => link.id)).toContain(id);
    const deactivateResponse = await call(
      `${system.baseUrl}/console/api/payment-links/${id}/deactivate`,
      {
        method: "POST",
        headers: { cookie: merchant.cookie },
      },
    );
    expect(deactivateResponse.body["status"]).toBe("inactive");
    expect((await readLink(id))["status"]).toBe("inactive");
  });

  test("one audit log contains what a user did to keys, links and endpoints, each event once", async () => {
    const headers = { cookie: merchant.cookie };
    const listAuditActions = async (query: string) => {
      const response = await call(`${system.baseUrl}/console/api/audit-log?${query}`, { headers });
      expect(response.status).toBe(200);
      const data = response.body["data"] as { action: string }[];
      return data.map(({ action }) => action).sort();
    };
    await waitUntil(
      "the audit log has the last event of another service",
      async () => (await listAuditActions("action=payment_link.deactivated")).length === 1,
    );
    expect(await listAuditActions("action=payment_link")).toEqual([
      "payment_link.created",
      "payment_link.deactivated",
    ]);
    expect(await listAuditActions("action=webhook_endpoint")).toEqual([
      "webhook_endpoint.added",
      "webhook_endpoint.secret_shown",
    ]);
    expect(await listAuditActions("action=api_key")).toEqual(["api_key.created"]);
  });

  test("a revoked key is rejected (rule CALLER-4)", async () => {
    const keysResponse = await call(`${system.baseUrl}/console/api/api-keys`, {
      headers: { cookie: merchant.cookie },
    });
    const [key] = keysResponse.body["data"] as { id: string }[];
    await call(`${system.baseUrl}/console/api/api-keys/${key?.id ?? ""}`, {
      method: "DELETE",
      headers: { cookie: merchant.cookie },
    });
    const rejectedResponse = await waitUntil("the key is rejected", async () => {
      const response = await call(`${system.baseUrl}/v1/payment-link`, {
        headers: { "x-api-key": merchant.apiKey },
      });
      return response.status === 401 ? response : undefined;
    });
    expect(rejectedResponse.body).toEqual({
      errors: [{ code: "INVALID_API_KEY", message: expect.any(String) }],
    });
  });

  test("no stored data or output contains a secret", async () => {
    const secrets = {
      "the API key": merchant.apiKey,
      ...Object.fromEntries(
        merchant.cookie
          .split("; ")
          .map((pair) => [`the session: ${pair}`, pair.replace(/^[^=]*=/, "")]),
      ),
      "the webhook secret": secret,
      "the provider's secret": acmeProvider.secret,
    };
    const dump = isRealSystem(system) ? await dumpSystem(system) : { log: system.output() };
    expect(findSecrets(secrets, dump)).toEqual([]);
  });
});

/**
 * The all-in-one has its own database and topics. It stores the same data as the separate services.
 */
const isRealSystem = (system: System): system is RealSystem => "topicPrefix" in system;
