// `helm test` runs this script for a quickstart. It creates an account and a link in test mode, and pays the link with a
// signed notice of a payment provider. The created data is kept for inspection.
import { createHmac, randomUUID } from "node:crypto";

const { SERVICES, OPERATOR_TOKEN, SETTLEMENT_PROVIDER_SECRETS } = process.env;
const origin = `http://${SERVICES}:8080`;
const requestMsMax = 10_000;
const paymentMsMax = 60_000;
const pollIntervalMs = 500;

/** An example address, which never receives a real payment. */
const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

const sendRequest = async (url, { method = "POST", headers = {}, body } = {}) => {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMsMax),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status} ${text}`);
  return { response, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

const operatorHeaders = { authorization: `Bearer ${OPERATOR_TOKEN.split(",")[0].trim()}` };
const callOperatorApi = (path, body) =>
  sendRequest(`http://${SERVICES}-auth-keys:8081${path}`, { headers: operatorHeaders, body });

const sendSettlementNotice = async (paymentLinkId) => {
  const [provider, secret] = SETTLEMENT_PROVIDER_SECRETS.split(/=(.*)/s);
  const body = {
    id: `payment-${randomUUID()}`,
    paymentLinkId,
    status: "settled",
    amount: "25",
    chainId: "84532",
    tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    destinationAddress: walletAddress,
    sourceTransaction: null,
    occurredAt: new Date().toISOString(),
  };
  const messageId = `msg_${randomUUID()}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${messageId}.${timestamp}.${JSON.stringify(body)}`)
    .digest("base64");
  await sendRequest(`${origin}/settlement-notices/${provider}`, {
    headers: {
      "webhook-id": messageId,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  });
};

/** Returns the `cookie` header for all cookies that a response sets. Each service reads its own cookie. */
const formatCookieHeader = ({ headers }) =>
  [...new Set(headers.getSetCookie().map((header) => header.split(";", 1)[0]))].join("; ");

const handle = `first${Date.now().toString(36)}`;
const createdAccount = await callOperatorApi("/internal/accounts", { username: "First", handle });
const token = new URL(createdAccount.body.signInUrl).hash.replace("#token=", "");
const session = await sendRequest(`${origin}/console/api/session`, { body: { token } });
const cookie = formatCookieHeader(session.response);
const wallet = { walletAddress, tokenId: "usdc-base-sepolia", isDefault: true };
await sendRequest(`${origin}/console/api/wallets`, { headers: { cookie }, body: wallet });
const createdKey = await sendRequest(`${origin}/console/api/api-keys`, {
  headers: { cookie },
  body: { name: "first", mode: "test", scopes: ["payment_link:create", "payment_link:read"] },
});
const createdLink = await sendRequest(`${origin}/v1/payment-link`, {
  headers: { "x-api-key": createdKey.body.key, "idempotency-key": randomUUID() },
  body: { toAmount: "25", description: "The first payment" },
});
console.log(`created: ${createdLink.body.url}`);
await sendSettlementNotice(createdLink.body.id);
const deadline = performance.now() + paymentMsMax;
for (;;) {
  const linkUrl = `${origin}/v1/payment-link/${createdLink.body.id}`;
  const { status } = (await sendRequest(linkUrl, { method: "GET" })).body;
  if (status === "completed") break;
  if (performance.now() > deadline) {
    throw new Error(`the link is still ${status} after ${paymentMsMax} ms`);
  }
  await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
}
console.log("paid: by a settlement notice, as from a payment provider");
const { body } = await callOperatorApi("/internal/sign-in-links", { handle });
console.log(`sign-in link, works once, for 15 minutes: ${body.signInUrl}`);
