// Acts as a shop and its payment provider inside the cluster. Calls each service through its
// Kubernetes Service.
import { createHmac, randomUUID } from "node:crypto";

const { SERVICES, PROVIDER_NAME, PROVIDER_SECRET, RECEIVER_PORT } = process.env;
const requestMsMax = 10_000;
const waitMsMax = 30_000;

/** This shop's webhook path. It is unique, so pending webhooks of an earlier shop do not arrive here. */
export const webhookPath = `/hook/${randomUUID()}`;

/** The wallet that receives the payments. */
export const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

/** Waits until the condition is true. Throws after the timeout. */
export const waitUntil = async (description, condition, timeoutMs = waitMsMax) => {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Calls a service and returns its JSON response. Throws if the status is not 2xx. */
export const callService = async (service, path, { method = "POST", headers = {}, body } = {}) => {
  const response = await fetch(`http://${SERVICES}-${service}:8080${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMsMax),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${path} got the response ${response.status} ${text}`);
  return { response, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

/**
 * Signs in, and creates a wallet, an API key, and a webhook endpoint for this pod's receiver. The
 * receiver must already be listening.
 */
export const createShop = async (signInToken) => {
  // A cluster needs some time to route a Service to a new pod. A webhook that is sent before that
  // would only be retried after 30 s.
  const isReceiverReachable = () =>
    fetch(`http://receiver:${RECEIVER_PORT}/`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ status }) => status === 204,
      () => false,
    );
  await waitUntil("the receiver is reachable through its Service", isReceiverReachable);
  const session = await callService("auth-keys", "/console/api/session", {
    body: { token: signInToken },
  });
  const cookie = formatCookieHeader(session.response);
  const wallet = { walletAddress, tokenId: "usdc-base", isDefault: true };
  await callService("auth-keys", "/console/api/wallets", { headers: { cookie }, body: wallet });
  const createdKey = await callService("auth-keys", "/console/api/api-keys", {
    headers: { cookie },
    body: { name: "first", scopes: ["payment_link:create", "payment_link:read"] },
  });
  const createdEndpoint = await callService(
    "webhook-dispatcher",
    "/console/api/webhook-endpoints",
    {
      headers: { cookie },
      body: { url: `https://receiver.test${webhookPath}`, name: "first" },
    },
  );
  return {
    cookie,
    apiKey: createdKey.body.key,
    endpointId: createdEndpoint.body.id,
    webhookSecret: createdEndpoint.body.secret,
  };
};

/** Joins the cookies that a response sets, without duplicates. Each service reads its own cookie. */
const formatCookieHeader = ({ headers }) =>
  [...new Set(headers.getSetCookie().map((header) => header.split(";", 1)[0]))].join("; ");

/** Creates a provider's signed notice of a settled payment. `id` is the payment's ID. */
export const createSettlementNotice = ({ id, paymentLinkId, amount, occurredAt }) => {
  const body = JSON.stringify({
    id,
    paymentLinkId,
    status: "settled",
    amount,
    chainId: "8453",
    tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    destinationAddress: walletAddress,
    sourceTransaction: null,
    occurredAt,
  });
  const messageId = `msg_${randomUUID()}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(PROVIDER_SECRET.slice(6), "base64"))
    .update(`${messageId}.${timestamp}.${body}`)
    .digest("base64");
  return {
    service: "settlement-listener",
    path: `/settlement-notices/${PROVIDER_NAME}`,
    headers: {
      "content-type": "application/json",
      "webhook-id": messageId,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  };
};

/** Reads a webhook. Returns its parsed body, or undefined if it is not signed with `secret`. */
export const verifyWebhook = async (req, secret) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  const signature = createHmac("sha256", secret)
    .update(`${String(req.headers["service-timestamp"])}.`)
    .update(rawBody)
    .digest("hex");
  return req.headers["service-signature"] === `v1=${signature}` ? JSON.parse(rawBody) : undefined;
};
