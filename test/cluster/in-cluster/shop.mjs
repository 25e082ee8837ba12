// What a shop and its payment provider do from inside the cluster; each call goes through its
// service's Service.
import { createHmac, randomUUID } from "node:crypto";

const { SERVICES, PROVIDER_NAME, PROVIDER_SECRET, RECEIVER_PORT } = process.env;
const callMsMax = 10_000;
const waitMsMax = 30_000;

/** Where this shop's webhooks go; what is still owed to an earlier shop goes elsewhere. */
export const hookPath = `/hook/${randomUUID()}`;

/** Where links are paid to. */
export const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

/** Waits until the condition holds, for half a minute unless told otherwise. */
export const waitUntil = async (what, holds, msMax = waitMsMax) => {
  const endsAt = performance.now() + msMax;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`not within ${msMax} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Calls a service and answers its JSON; throws if the service refuses. */
export const call = async (service, path, { method = "POST", headers = {}, body } = {}) => {
  const answer = await fetch(`http://${SERVICES}-${service}:8080${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callMsMax),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status} ${text}`);
  return { answer, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

/**
 * Signs in, and makes a wallet, a key and an endpoint at the receiver of this pod, which must
 * listen.
 */
export const openShop = async (signInToken) => {
  // A cluster needs a moment to route a Service to a new pod; a webhook that comes before that is
  // sent again only half a minute later.
  const isReached = () =>
    fetch(`http://receiver:${RECEIVER_PORT}/`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ status }) => status === 204,
      () => false,
    );
  await waitUntil("the receiver is reached through its Service", isReached);
  const signedIn = await call("auth-keys", "/console/api/session", {
    body: { token: signInToken },
  });
  const cookie = cookiesOf(signedIn.answer);
  const wallet = { walletAddress, tokenId: "usdc-base", isDefault: true };
  await call("auth-keys", "/console/api/wallets", { headers: { cookie }, body: wallet });
  const key = await call("auth-keys", "/console/api/api-keys", {
    headers: { cookie },
    body: { name: "first", scopes: ["payment_link:create", "payment_link:read"] },
  });
  const endpoint = await call("webhook-dispatcher", "/console/api/webhook-endpoints", {
    headers: { cookie },
    body: { url: `https://receiver.test${hookPath}`, name: "first" },
  });
  return {
    cookie,
    apiKey: key.body.key,
    endpointId: endpoint.body.id,
    webhookSecret: endpoint.body.secret,
  };
};

/** Every cookie that an answer sets, once: each service reads its own. */
const cookiesOf = ({ headers }) =>
  [...new Set(headers.getSetCookie().map((line) => line.split(";", 1)[0]))].join("; ");

/** A provider's notice that `amount` settled, ready to be sent: `id` names the payment. */
export const settledNotice = ({ id, paymentLinkId, amount, occurredAt }) => {
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

/** Reads a whole webhook; answers its body, or undefined if it is not signed with `secret`. */
export const readWebhook = async (req, secret) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const signature = createHmac("sha256", secret)
    .update(`${String(req.headers["service-timestamp"])}.`)
    .update(raw)
    .digest("hex");
  return req.headers["service-signature"] === `v1=${signature}` ? JSON.parse(raw) : undefined;
};
