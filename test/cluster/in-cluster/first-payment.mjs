// Makes the README's first payment from inside the cluster. It signs in, creates an API key and a
// webhook endpoint, creates a link, settles it with a signed notice, and receives both webhooks.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import {
  callService,
  createSettlementNotice,
  createShop,
  verifyWebhook,
  waitUntil,
  webhookPath,
} from "./shop.mjs";

const { SERVICES, SIGN_IN_TOKEN, RECEIVER_PORT } = process.env;

const receivedWebhooks = new Map();
let webhookSecret = "";
const receiver = createServer(async (req, res) => {
  if (req.method === "GET") return res.writeHead(204).end();
  if (req.url !== webhookPath) return res.writeHead(404).end();
  const webhook = await verifyWebhook(req, webhookSecret);
  res.writeHead(webhook === undefined ? 401 : 204).end();
  if (webhook !== undefined) receivedWebhooks.set(webhook.type, webhook.data);
});
receiver.listen(Number(RECEIVER_PORT));

const shop = await createShop(SIGN_IN_TOKEN);
webhookSecret = shop.webhookSecret;
const createdLink = await callService("links-api", "/v1/payment-link", {
  headers: { "x-api-key": shop.apiKey, "idempotency-key": "order-1001" },
  body: { toAmount: "25", description: "Order 1001" },
});

const { service, path, headers, body } = createSettlementNotice({
  id: `payment-${randomUUID()}`,
  paymentLinkId: createdLink.body.id,
  amount: "25",
  occurredAt: new Date().toISOString(),
});
const url = `http://${SERVICES}-${service}:8080${path}`;
const noticeResponse = await fetch(url, {
  method: "POST",
  headers,
  body,
  signal: AbortSignal.timeout(10_000),
});
if (noticeResponse.status !== 202) {
  throw new Error(`the notice got the response ${noticeResponse.status}`);
}

await waitUntil("both webhooks arrive", () => receivedWebhooks.size === 2);
const retrievedLink = await callService("links-api", `/v1/payment-link/${createdLink.body.id}`, {
  method: "GET",
});
console.log(retrievedLink.body.status);
for (const type of ["payment_link.completed", "payment_link.transaction.succeeded"]) {
  const { amount, receivedAmount } = receivedWebhooks.get(type);
  console.log(`${type}: ${receivedAmount} of ${amount}`);
}
receiver.close();
receiver.closeAllConnections();
