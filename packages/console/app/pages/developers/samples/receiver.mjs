import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { readWebhook } from "./read-webhook.mjs";

const units = (amount) => {
  const [whole, fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(36, "0"));
};
const seen = new Set();

createServer(async (req, res) => {
  const raw = await buffer(req).catch(() => undefined);
  if (raw === undefined) return; // the sender disconnected
  const webhook = readWebhook(raw, req.headers, process.env.SECRET);
  res.writeHead(webhook === undefined ? 401 : 204).end();
  if (webhook === undefined || seen.has(webhook.id)) return;
  seen.add(webhook.id);
  const { type, data } = webhook;
  const isPaid = units(data.receivedAmount) >= units(data.amount);
  console.log(
    `${type}: ${data.receivedAmount} of ${data.amount}, ${isPaid ? "paid" : "not yet paid"}`,
  );
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1");
