// Start: SECRET=whsec_… node receiver.ts (Node 24)
import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingHttpHeaders, createServer } from "node:http";
import { buffer } from "node:stream/consumers";

type Webhook = {
  id: string;
  type: string;
  data: { paymentLinkId: string; amount: string; receivedAmount: string };
};

// Returns the webhook, or undefined if the request is not genuine. In that case, respond with 401.
// raw: the bytes of the body before any parsing.
const readWebhook = (
  raw: Buffer,
  headers: IncomingHttpHeaders,
  secret: string,
): Webhook | undefined => {
  const timestamp = String(headers["service-timestamp"] ?? "");
  const signature = String(headers["service-signature"] ?? "");
  if (!/^[0-9]{1,12}$/.test(timestamp) || !/^v1=[0-9a-f]{64}$/.test(signature)) return undefined;
  const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(raw).digest("hex");
  const isGenuine = timingSafeEqual(Buffer.from(signature), Buffer.from(`v1=${mac}`));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return isGenuine && isFresh ? (JSON.parse(raw.toString()) as Webhook) : undefined;
};

const secret = process.env["SECRET"] ?? "";
if (!secret.startsWith("whsec_")) throw new Error("the endpoint's signing secret is missing");

// In production: a table with a unique key, written in one transaction with your work.
const seenIds = new Set<string>();

createServer(async (req, res) => {
  const raw = await buffer(req).catch(() => undefined);
  if (raw === undefined) return; // the sender disconnected
  const webhook = readWebhook(raw, req.headers, secret);
  if (webhook !== undefined && !seenIds.has(webhook.id)) {
    seenIds.add(webhook.id);
    console.log(webhook.type);
  }
  res.writeHead(webhook === undefined ? 401 : 204).end();
}).listen(Number(process.env["PORT"] ?? 9000), "127.0.0.1");
