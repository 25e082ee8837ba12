// A shop, its provider and its receiver in one pod. Sends REQUESTS_PER_SECOND to all four services,
// every second one over a connection of its own and the rest over kept ones, until `POST /end` on
// RECEIVER_PORT. Then waits until every accepted payment is credited and its webhooks have come,
// and prints what it saw as one line of JSON. `GET /state` shows how it goes. A notice that is not
// accepted is sent again, as providers do; nothing else is.
import { randomUUID } from "node:crypto";
import { Agent, createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { hookPath, openShop, readWebhook, settledNotice, waitUntil } from "./shop.mjs";

const { SERVICES, SIGN_IN_TOKEN, RECEIVER_PORT, REQUESTS_PER_SECOND } = process.env;
const requestMsMax = 30_000;
const underWayMax = 2_000;
const loadMsMax = 1_800_000;
const settleMsMax = 150_000;
const noticeAgainMs = 1_000;
const checksAtOnce = 10;

// Each link asks for 10 and is paid twice, so that it ends with three webhooks.
const toAmount = "10";
const payment = "5";
const paymentsPerLink = 2;
const webhooksPerLink = 3;

const agents = {
  new: new Agent({ keepAlive: false }),
  // Kept connections take turns, and no request waits for one: waiting times come from the services
  // only.
  kept: new Agent({ keepAlive: true, maxSockets: 200, scheduling: "fifo" }),
};
const seen = { sent: 0, skipped: 0, failures: {}, lastFailedAt: 0, slowestMs: 0 };
const links = new Map();
const dueNotices = [];
let shop = { webhookSecret: "" };
let underWay = 0;
const ending = new AbortController();

/** The status of the answer and its text, or the code of the error. */
const send = (kind, { service, path, method = "GET", headers = {}, body }) =>
  new Promise((resolve) => {
    const fail = (error) => resolve({ status: error.code ?? error.name, text: "" });
    const host = `${SERVICES}-${service}`;
    const signal = AbortSignal.timeout(requestMsMax);
    const agent = agents[kind];
    const req = request({ host, port: 8080, path, method, headers, agent, signal }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      res.on("end", () => resolve({ status: res.statusCode, text })).on("error", fail);
    });
    req.on("error", fail).end(body);
  });

const createLink = async (ask) => {
  const headers = { "x-api-key": shop.apiKey, "content-type": "application/json" };
  const body = JSON.stringify({ toAmount });
  const path = "/v1/payment-link";
  const text = await ask(200, { service: "links-api", path, method: "POST", headers, body });
  if (text === undefined) return;
  const { id } = JSON.parse(text);
  links.set(id, { acceptedAt: [], webhooks: new Map() });
  for (let n = 0; n < paymentsPerLink; n += 1) {
    dueNotices.push({ id: `payment-${randomUUID()}`, paymentLinkId: id, notBefore: 0 });
  }
};

const payLink = async (ask) => {
  const index = dueNotices.findIndex(({ notBefore }) => notBefore <= Date.now());
  if (index === -1) return await retrieveLink(ask);
  const [notice] = dueNotices.splice(index, 1);
  notice.occurredAt ??= new Date().toISOString();
  const text = await ask(202, { method: "POST", ...settledNotice({ ...notice, amount: payment }) });
  if (text === undefined) dueNotices.push({ ...notice, notBefore: Date.now() + noticeAgainMs });
  else links.get(notice.paymentLinkId).acceptedAt.push(Date.now());
};

const retrieveLink = async (ask) => {
  const ids = [...links.keys()];
  const id = ids[Math.floor(Math.random() * ids.length)];
  if (id === undefined) return await askWhoIAm(ask);
  await ask(200, { service: "links-api", path: `/v1/payment-link/${id}` });
};

const listLinks = (ask) =>
  ask(200, {
    service: "links-api",
    path: "/v1/payment-link",
    headers: { "x-api-key": shop.apiKey },
  });

const askWhoIAm = (ask) =>
  ask(200, {
    service: "auth-keys",
    path: "/console/api/session",
    headers: { cookie: shop.cookie },
  });

const listEndpoints = (ask) =>
  ask(200, {
    service: "webhook-dispatcher",
    path: "/console/api/webhook-endpoints",
    headers: { cookie: shop.cookie },
  });

const turns = [
  createLink,
  payLink,
  retrieveLink,
  listEndpoints,
  payLink,
  askWhoIAm,
  listLinks,
  retrieveLink,
  listEndpoints,
  askWhoIAm,
];

/**
 * Sends a request and answers the text where the status is the one expected; else counts a failure.
 */
const askOver = (kind) => async (expected, what) => {
  const sentAt = Date.now();
  const { status, text } = await send(kind, what);
  seen.slowestMs = Math.max(seen.slowestMs, Date.now() - sentAt);
  if (status === expected) return text;
  const name = `${kind} ${what.service} ${what.method ?? "GET"}: ${status}`;
  seen.failures[name] = (seen.failures[name] ?? 0) + 1;
  seen.lastFailedAt = Math.max(seen.lastFailedAt, sentAt);
  return undefined;
};

const takeTurn = async (n) => {
  if (underWay >= underWayMax) {
    seen.skipped += 1;
    return;
  }
  underWay += 1;
  seen.sent += 1;
  // Shifted by one in each round, so that every kind of request comes over both.
  const kind = (n + Math.floor(n / turns.length)) % 2 === 0 ? "new" : "kept";
  await turns[n % turns.length](askOver(kind));
  underWay -= 1;
};

const keepOn = async () => {
  const startedAt = performance.now();
  let n = 0;
  while (!ending.signal.aborted) {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > loadMsMax) throw new Error(`nobody ended the load within ${loadMsMax} ms`);
    for (; n < (elapsedMs * Number(REQUESTS_PER_SECOND)) / 1000; n += 1) void takeTurn(n);
    await sleep(5);
  }
};

// The receiver's delay: a webhook is answered late, so that another attempt at the same one would
// be seen beside it.
const atReceiver = new Set();
const attempts = { all: 0, atOnce: 0, afterItsEnd: 0, forged: 0, unknown: 0 };
/** When each webhook was answered with a 2xx, by its event. */
const answeredAt = new Map();
const cameAgain = [];
let newestToldAt = 0;

const takeWebhook = async (req, res) => {
  const webhook = await readWebhook(req, shop.webhookSecret);
  if (webhook === undefined) {
    attempts.forged += 1;
    return res.writeHead(401).end();
  }
  const { id, type, data } = webhook;
  attempts.all += 1;
  if (atReceiver.has(id)) attempts.atOnce += 1;
  atReceiver.add(id);
  await sleep(20 + Math.random() * 80);
  atReceiver.delete(id);
  const link = links.get(data.paymentLinkId);
  if (link === undefined) attempts.unknown += 1;
  if (link?.webhooks.has(id)) {
    attempts.afterItsEnd += 1;
    cameAgain.push({ id, answeredAt: answeredAt.get(id), againAt: new Date().toISOString() });
  }
  link?.webhooks.set(id, `${type} ${data.transaction?.id ?? ""}`);
  newestToldAt = Math.max(newestToldAt, ...(link?.acceptedAt ?? []));
  answeredAt.set(id, new Date().toISOString());
  return res.writeHead(204).end();
};

const openLinks = () =>
  [...links.values()].filter(
    ({ acceptedAt, webhooks }) =>
      webhooks.size < acceptedAt.length + (acceptedAt.length === paymentsPerLink ? 1 : 0),
  );

/** Ages in milliseconds; null for what has never happened. */
const state = () => {
  const ageOf = (at) => (at === 0 || !Number.isFinite(at) ? null : Date.now() - at);
  return {
    ...seen,
    lastFailedMs: ageOf(seen.lastFailedAt),
    newestToldMs: ageOf(newestToldAt),
    oldestUntoldMs: ageOf(Math.min(...openLinks().flatMap(({ acceptedAt }) => acceptedAt))),
    dueNotices: dueNotices.length,
    links: links.size,
  };
};

const control = createServer(async (req, res) => {
  if (req.method === "POST" && req.url === hookPath) return await takeWebhook(req, res);
  if (req.url === "/state") return res.end(JSON.stringify(state()));
  if (req.method === "POST" && req.url === "/end") ending.abort();
  return res.writeHead(204).end();
});

/** What each link says that it received, compared with the payments that were accepted for it. */
const checkCredits = async () => {
  const wrong = [];
  const rest = [...links];
  const check = async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [id, { acceptedAt }] = next;
      const { status, text } = await send("kept", {
        service: "links-api",
        path: `/v1/payment-link/${id}`,
      });
      const received = status === 200 ? JSON.parse(text).receivedAmount : status;
      const expected = String(Number(payment) * acceptedAt.length);
      if (received !== expected) wrong.push(`${id}: ${received}, not ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: checksAtOnce }, check));
  return wrong;
};

/** Links of which a webhook is missing, or was made twice. */
const countWrongWebhooks = () => {
  const isRight = ({ webhooks }) => new Set(webhooks.values()).size === webhooksPerLink;
  const all = [...links.values()];
  return {
    linksMissingWebhooks: all.filter((link) => !isRight(link)).length,
    webhooksMadeTwice: all.filter(({ webhooks }) => webhooks.size > new Set(webhooks.values()).size)
      .length,
  };
};

/** The webhooks that came again after their 2xx, each with its attempts as the dispatcher saw them. */
const explainRepeats = () =>
  Promise.all(
    cameAgain.slice(0, 5).map(async (repeat) => {
      const { text } = await send("new", {
        service: "webhook-dispatcher",
        path: `/console/api/webhook-endpoints/${shop.endpointId}/deliveries/${repeat.id}`,
        headers: { cookie: shop.cookie },
      });
      return { ...repeat, delivery: text };
    }),
  );

const settle = async () => {
  await waitUntil("answers under way", () => underWay === 0, requestMsMax * 2);
  const endsAt = performance.now() + settleMsMax;
  while (dueNotices.length > 0 && performance.now() < endsAt) {
    await payLink(async (expected, what) => {
      const { status, text } = await send("new", what);
      return status === expected ? text : undefined;
    });
    await sleep(10);
  }
  while (openLinks().length > 0 && performance.now() < endsAt) await sleep(100);
  // Long enough to see an attempt that should not come.
  await sleep(2_000);
};

control.listen(Number(RECEIVER_PORT));
shop = await openShop(SIGN_IN_TOKEN);
await keepOn();
await settle();
const wrongCredits = await checkCredits();
console.log(
  JSON.stringify({
    ...seen,
    links: links.size,
    payments: [...links.values()].flatMap(({ acceptedAt }) => acceptedAt).length,
    paymentsNeverAccepted: dueNotices.length,
    linksCreditedWrongly: wrongCredits.length,
    wrongCredits: wrongCredits.slice(0, 5),
    ...countWrongWebhooks(),
    webhookAttempts: attempts,
    repeats: await explainRepeats(),
  }),
);
process.exit(0);
