// The README's first payment from inside the cluster: signs in, makes a key and an endpoint,
// creates a link, settles it by a signed notice, and takes both webhooks.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { call, hookPath, openShop, readWebhook, settledNotice, waitUntil } from "./shop.mjs";

const { SERVICES, SIGN_IN_TOKEN, RECEIVER_PORT } = process.env;

const webhooks = new Map();
let secret = "";
const receiver = createServer(async (req, res) => {
  if (req.method === "GET") return res.writeHead(204).end();
  if (req.url !== hookPath) return res.writeHead(404).end();
  const webhook = await readWebhook(req, secret);
  res.writeHead(webhook === undefined ? 401 : 204).end();
  if (webhook !== undefined) webhooks.set(webhook.type, webhook.data);
});
receiver.listen(Number(RECEIVER_PORT));

const shop = await openShop(SIGN_IN_TOKEN);
secret = shop.webhookSecret;
const link = await call("links-api", "/v1/payment-link", {
  headers: { "x-api-key": shop.apiKey, "idempotency-key": "order-1001" },
  body: { toAmount: "25", description: "Order 1001" },
});

const { service, path, headers, body } = settledNotice({
  id: `payment-${randomUUID()}`,
  paymentLinkId: link.body.id,
  amount: "25",
  occurredAt: new Date().toISOString(),
});
const url = `http://${SERVICES}-${service}:8080${path}`;
const noticed = await fetch(url, {
  method: "POST",
  headers,
  body,
  signal: AbortSignal.timeout(10_000),
});
if (noticed.status !== 202) throw new Error(`the notice was answered with ${noticed.status}`);

await waitUntil("both webhooks are there", () => webhooks.size === 2);
const paid = await call("links-api", `/v1/payment-link/${link.body.id}`, { method: "GET" });
console.log(paid.body.status);
for (const type of ["payment_link.completed", "payment_link.transaction.succeeded"]) {
  console.log(`${type}: ${webhooks.get(type).receivedAmount} of ${webhooks.get(type).amount}`);
}
receiver.close();
receiver.closeAllConnections();
