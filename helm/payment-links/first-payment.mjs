// `helm test` of a quickstart: opens an account, makes a link and has it paid, by a payment provider's
// signed notice, through the one origin. What it made stays, to be looked at.
import { createHmac, randomUUID } from "node:crypto";

const { SERVICES, OPERATOR_TOKEN, SETTLEMENT_PROVIDER_SECRETS } = process.env;
const origin = `http://${SERVICES}:8080`;
const callMsMax = 10_000;
const paidMsMax = 60_000;
const pauseMs = 500;

/** Nobody's: what is paid there is not real. */
const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

const call = async (url, { method = "POST", headers = {}, body } = {}) => {
  const answer = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callMsMax),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status} ${text}`);
  return { answer, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

const bearer = { authorization: `Bearer ${OPERATOR_TOKEN.split(",")[0].trim()}` };
const operate = (path, body) =>
  call(`http://${SERVICES}-auth-keys:8081${path}`, { headers: bearer, body });

const notify = async (paymentLinkId) => {
  const [provider, secret] = SETTLEMENT_PROVIDER_SECRETS.split(/=(.*)/s);
  const body = {
    id: `payment-${randomUUID()}`,
    paymentLinkId,
    status: "settled",
    amount: "25",
    chainId: "8453",
    tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    destinationAddress: walletAddress,
    sourceTransaction: null,
    occurredAt: new Date().toISOString(),
  };
  const messageId = `msg_${randomUUID()}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${messageId}.${timestamp}.${JSON.stringify(body)}`)
    .digest("base64");
  await call(`${origin}/settlement-notices/${provider}`, {
    headers: {
      "webhook-id": messageId,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  });
};

/** Every cookie that an answer sets, once: each service reads its own. */
const cookiesOf = ({ headers }) =>
  [...new Set(headers.getSetCookie().map((line) => line.split(";", 1)[0]))].join("; ");

const handle = `first${Date.now().toString(36)}`;
const opened = await operate("/internal/accounts", { username: "First", handle });
const token = new URL(opened.body.signInUrl).hash.replace("#token=", "");
const signedIn = await call(`${origin}/console/api/session`, { body: { token } });
const cookie = cookiesOf(signedIn.answer);
const wallet = { walletAddress, tokenId: "usdc-base", isDefault: true };
await call(`${origin}/console/api/wallets`, { headers: { cookie }, body: wallet });
const key = await call(`${origin}/console/api/api-keys`, {
  headers: { cookie },
  body: { name: "first", scopes: ["payment_link:create", "payment_link:read"] },
});
const link = await call(`${origin}/v1/payment-link`, {
  headers: { "x-api-key": key.body.key, "idempotency-key": randomUUID() },
  body: { toAmount: "25", description: "The first payment" },
});
console.log(`created: ${link.body.url}`);
await notify(link.body.id);
const endsAt = performance.now() + paidMsMax;
for (;;) {
  const read = `${origin}/v1/payment-link/${link.body.id}`;
  const { status } = (await call(read, { method: "GET" })).body;
  if (status === "completed") break;
  if (performance.now() > endsAt) throw new Error(`the link is ${status} after ${paidMsMax} ms`);
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
console.log("paid: by a notice, as a payment provider sends it");
const { body } = await operate("/internal/sign-in-links", { handle });
console.log(`sign in, once, within 15 minutes: ${body.signInUrl}`);
