// The README's first payment from inside the cluster: signs in, makes a key and an endpoint, creates a link,
// settles it by a signed notice, and takes both webhooks. Each call goes through its service's Service.
import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const { SERVICES, SIGN_IN_TOKEN, PROVIDER_NAME, PROVIDER_SECRET, RECEIVER_PORT } = process.env;
const waitMsMax = 30_000;

const call = async (service, path, { method = "POST", headers = {}, body } = {}) => {
  const answer = await fetch(`http://${SERVICES}-${service}:8080${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status} ${text}`);
  return { answer, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

const waitUntil = async (what, holds) => {
  const endsAt = performance.now() + waitMsMax;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`not within ${waitMsMax} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const webhooks = new Map();
let secret = "";
const receiver = createServer(async (req, res) => {
  if (req.method === "GET") return res.writeHead(204).end();
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const signature = createHmac("sha256", secret)
    .update(`${String(req.headers["service-timestamp"])}.`)
    .update(raw)
    .digest("hex");
  const isGenuine = req.headers["service-signature"] === `v1=${signature}`;
  res.writeHead(isGenuine ? 204 : 401).end();
  if (isGenuine) webhooks.set(JSON.parse(raw).type, JSON.parse(raw).data);
});
receiver.listen(Number(RECEIVER_PORT));

// A cluster needs a moment to lead a Service to a new pod, and a webhook that comes too early comes
// again only half a minute later.
const isReached = () =>
  fetch(`http://receiver:${RECEIVER_PORT}/`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status === 204,
    () => false,
  );
await waitUntil("the receiver is reached through its Service", isReached);

const signedIn = await call("auth-keys", "/console/api/session", {
  body: { token: SIGN_IN_TOKEN },
});
const cookie = signedIn.answer.headers.get("set-cookie").split(";", 1)[0];
const wallet = {
  walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
  tokenId: "usdc-base",
  isDefault: true,
};
await call("auth-keys", "/console/api/wallets", { headers: { cookie }, body: wallet });
const key = await call("auth-keys", "/console/api/api-keys", {
  headers: { cookie },
  body: { name: "first", scopes: ["payment_link:create", "payment_link:read"] },
});
const endpoint = await call("webhook-dispatcher", "/console/api/webhook-endpoints", {
  headers: { cookie },
  body: { url: "https://receiver.test/hook", name: "first" },
});
secret = endpoint.body.secret;
const link = await call("links-api", "/v1/payment-link", {
  headers: { "x-api-key": key.body.key, "idempotency-key": "order-1001" },
  body: { toAmount: "25", description: "Order 1001" },
});

const notice = JSON.stringify({
  id: `payment-${randomUUID()}`,
  paymentLinkId: link.body.id,
  status: "settled",
  amount: "25",
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  destinationAddress: wallet.walletAddress,
  sourceTransaction: null,
  occurredAt: new Date().toISOString(),
});
const id = `msg_${randomUUID()}`;
const timestamp = String(Math.floor(Date.now() / 1000));
const noticeSignature = createHmac("sha256", Buffer.from(PROVIDER_SECRET.slice(6), "base64"))
  .update(`${id}.${timestamp}.${notice}`)
  .digest("base64");
const noticed = await fetch(
  `http://${SERVICES}-settlement-listener:8080/settlement-notices/${PROVIDER_NAME}`,
  {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${noticeSignature}`,
    },
    body: notice,
  },
);
if (noticed.status !== 202) throw new Error(`the notice was answered with ${noticed.status}`);

await waitUntil("both webhooks are there", () => webhooks.size === 2);
const paid = await call("links-api", `/v1/payment-link/${link.body.id}`, { method: "GET" });
console.log(paid.body.status);
for (const type of ["payment_link.completed", "payment_link.transaction.succeeded"]) {
  console.log(`${type}: ${webhooks.get(type).receivedAmount} of ${webhooks.get(type).amount}`);
}
receiver.close();
receiver.closeAllConnections();
