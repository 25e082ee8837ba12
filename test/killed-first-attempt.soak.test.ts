import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { Client } from "pg";
import { createMerchant } from "./rig/client.ts";
import { createCompletedLinkRecord, connectLinkPublisher } from "./rig/completed-links.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { buildShopEnv } from "./rig/shop-env.ts";

let receiver: WebhookReceiver;
let system: RealSystem;
let admin: Client;

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: buildShopEnv(receiver),
  });
  admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
});

afterAll(async () => {
  await admin?.end();
  await system?.close();
  await receiver?.close();
});

test("a webhook whose dispatcher is killed before the commit is sent again under the same id (rule HOOK-15)", async () => {
  const merchant = await createMerchant(system, "killed");
  await registerEndpoint(system, merchant, "https://receiver.test/hook");
  // The transaction of an event ends with the listeners of its account.
  await admin.query("BEGIN");
  await admin.query("LOCK webhook_dispatcher.listeners IN ACCESS EXCLUSIVE MODE");
  const publisher = await connectLinkPublisher(system.topicPrefix);
  await publisher.publish([createCompletedLinkRecord(merchant.userId)]);
  await publisher.close();
  await waitUntil("the webhook is received", () => receiver.received.length === 1);

  const dispatcher = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  await dispatcher?.kill();
  await admin.query("ROLLBACK");
  await dispatcher?.start();
  const logEntry = await waitUntil("the delivery is recorded", async () => {
    const { rows } = await admin.query<{ id: string; status: string; attempts: number }>(
      "SELECT id, status, attempts FROM webhook_dispatcher.delivery_log",
    );
    return rows[0];
  });

  const [first, second, ...others] = receiver.received;
  expect(others).toEqual([]);
  expect(second?.rawBody.toString()).toBe(first?.rawBody.toString());
  expect(first?.body.id).toBe(logEntry.id);
  expect(logEntry).toMatchObject({ status: "Delivered", attempts: 1 });
});
