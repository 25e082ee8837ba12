import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { Client } from "pg";
// Imports from `src`, because the package exports only the client. The program is a file.
import { runCommand } from "../../packages/sdk/src/command/run-command.ts";
import { createTerminal } from "../../packages/sdk/src/command/testing/create-terminal.ts";
import { createMerchant } from "../rig/client.ts";
import {
  type LinkPublisher,
  connectLinkPublisher,
  createCompletedLinkRecord,
} from "../rig/completed-links.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "../rig/receiver.ts";
import { buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";

const disconnectCount = 100;
const eventsPerDisconnect = 10;

/** Starts a TCP proxy whose event streams can be cut off. */
const startProxy = async (targetUrl: string) => {
  const streams = new Set<Socket>();
  const { port } = new URL(targetUrl);
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    const destroy = () => {
      streams.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", destroy).on("close", destroy);
    upstream.on("data", (bytes: Buffer) => {
      if (bytes.includes("text/event-stream")) streams.add(client);
      client.write(bytes);
    });
    client.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isConnected: () => streams.size > 0,
    cutStreams: () => {
      for (const client of streams) client.destroy();
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

let receiver: WebhookReceiver;
let system: RealSystem;
let publisher: LinkPublisher;
let admin: Client;
let proxy: Awaited<ReturnType<typeof startProxy>>;
beforeAll(async () => {
  receiver = await startReceiver();
  system = await startRealSystem({
    replicasPerService: 2,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: { ...buildShopEnv(receiver), ...unlimitedEnv },
  });
  publisher = await connectLinkPublisher(system.topicPrefix);
  admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  proxy = await startProxy(system.baseUrl);
});
afterAll(async () => {
  await admin?.end();
  await publisher?.close();
  await proxy?.close();
  await system?.close();
  await receiver?.close();
});

const countRows = async (): Promise<unknown> => {
  const { rows } = await admin.query(`
    SELECT (SELECT count(*)::int FROM webhook_dispatcher.listeners) AS listeners,
      (SELECT count(*)::int FROM webhook_dispatcher.listener_events) AS events,
      (SELECT count(*)::int FROM webhook_dispatcher.deliveries) AS deliveries
  `);
  return rows[0];
};

test("payment-links listen receives each of 1,000 events over 100 lost connections, and leaves no rows (rule HOOK-22)", async () => {
  const merchant = await createMerchant(system, "shop");
  const { interrupt, lines, terminal } = createTerminal({
    env: { PAYMENT_LINKS_URL: proxy.url, PAYMENT_LINKS_API_KEY: merchant.apiKey },
  });
  const words = ["listen", "--json", "--forward-to", `http://127.0.0.1:${receiver.port}/hook`];
  const ended = runCommand(words, terminal);
  const linkIds: string[] = [];
  for (let count = 0; count < disconnectCount; count += 1) {
    await waitUntil("the stream is connected", () => proxy.isConnected());
    const records = Array.from({ length: eventsPerDisconnect }, () =>
      createCompletedLinkRecord(merchant.userId),
    );
    await publisher.publish(records);
    linkIds.push(...records.map(({ linkId }) => linkId));
    proxy.cutStreams();
  }
  const listReceivedIds = () =>
    new Set(receiver.received.map(({ body }) => String(body.data["paymentLinkId"])));
  await waitUntil("every event is received", () => listReceivedIds().size === linkIds.length);
  expect([...listReceivedIds()].toSorted()).toEqual(linkIds.toSorted());
  const { secret } = JSON.parse(lines[0] ?? "") as { secret: string };
  expect(receiver.received.filter((webhook) => !isSignedWith(secret, webhook))).toEqual([]);
  interrupt();
  expect(await ended).toBe(0);
  expect(await countRows()).toEqual({ listeners: 0, events: 0, deliveries: 0 });
});
