// A shop, its payment provider and its webhook receiver in one pod. Sends REQUESTS_PER_SECOND
// requests per second to all four services until it receives `POST /end` on RECEIVER_PORT. Every
// second request uses a new connection. The other requests use keep-alive connections. Then waits
// until every accepted payment is credited and its webhooks have arrived, and prints a report as
// one line of JSON. `GET /state` returns the current counts. Only notices are retried, as a
// provider would do.
import { randomUUID } from "node:crypto";
import { Agent, createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSettlementNotice,
  createShop,
  verifyWebhook,
  waitUntil,
  webhookPath,
} from "./shop.mjs";

const { SERVICES, SIGN_IN_TOKEN, RECEIVER_PORT, REQUESTS_PER_SECOND } = process.env;
const requestMsMax = 30_000;
const inFlightMax = 2_000;
const loadMsMax = 1_800_000;
const settleMsMax = 150_000;
const noticeRetryMs = 1_000;
const checkConcurrency = 10;

// Each link has an amount of 10 and is paid in two parts. This causes three webhooks.
const toAmount = "10";
const paymentAmount = "5";
const paymentsPerLink = 2;
const webhooksPerLink = 3;

const agents = {
  new: new Agent({ keepAlive: false }),
  // The connections are used in turn. There are enough of them that no request has to wait for a
  // connection, so the measured latency is only that of the services.
  kept: new Agent({ keepAlive: true, maxSockets: 200, scheduling: "fifo" }),
};
const stats = { sent: 0, skipped: 0, failures: {}, lastFailedAt: 0, slowestMs: 0 };
const linksById = new Map();
const pendingNotices = [];
let shop = { webhookSecret: "" };
let inFlightCount = 0;
const stopController = new AbortController();

/**
 * Sends a request. Resolves with the response's status and text. If it fails, the status is the
 * error's code.
 */
const sendRequest = (connectionKind, { service, path, method = "GET", headers = {}, body }) =>
  new Promise((resolve) => {
    const fail = (error) => resolve({ status: error.code ?? error.name, text: "" });
    const host = `${SERVICES}-${service}`;
    const signal = AbortSignal.timeout(requestMsMax);
    const agent = agents[connectionKind];
    const req = request({ host, port: 8080, path, method, headers, agent, signal }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      res.on("end", () => resolve({ status: res.statusCode, text })).on("error", fail);
    });
    req.on("error", fail).end(body);
  });

const createLink = async (sendAndCheck) => {
  const headers = { "x-api-key": shop.apiKey, "content-type": "application/json" };
  const body = JSON.stringify({ toAmount });
  const path = "/v1/payment-link";
  const text = await sendAndCheck(200, {
    service: "links-api",
    path,
    method: "POST",
    headers,
    body,
  });
  if (text === undefined) return;
  const { id } = JSON.parse(text);
  linksById.set(id, { acceptedAt: [], webhooks: new Map() });
  for (let paymentIndex = 0; paymentIndex < paymentsPerLink; paymentIndex += 1) {
    pendingNotices.push({ id: `payment-${randomUUID()}`, paymentLinkId: id, notBefore: 0 });
  }
};

const payLink = async (sendAndCheck) => {
  const noticeIndex = pendingNotices.findIndex(({ notBefore }) => notBefore <= Date.now());
  if (noticeIndex === -1) return await retrieveLink(sendAndCheck);
  const [notice] = pendingNotices.splice(noticeIndex, 1);
  notice.occurredAt ??= new Date().toISOString();
  const text = await sendAndCheck(202, {
    method: "POST",
    ...createSettlementNotice({ ...notice, amount: paymentAmount }),
  });
  if (text === undefined) pendingNotices.push({ ...notice, notBefore: Date.now() + noticeRetryMs });
  else linksById.get(notice.paymentLinkId).acceptedAt.push(Date.now());
};

const retrieveLink = async (sendAndCheck) => {
  const ids = [...linksById.keys()];
  const id = ids[Math.floor(Math.random() * ids.length)];
  if (id === undefined) return await readSession(sendAndCheck);
  await sendAndCheck(200, { service: "links-api", path: `/v1/payment-link/${id}` });
};

const listLinks = (sendAndCheck) =>
  sendAndCheck(200, {
    service: "links-api",
    path: "/v1/payment-link",
    headers: { "x-api-key": shop.apiKey },
  });

const readSession = (sendAndCheck) =>
  sendAndCheck(200, {
    service: "auth-keys",
    path: "/console/api/session",
    headers: { cookie: shop.cookie },
  });

const listEndpoints = (sendAndCheck) =>
  sendAndCheck(200, {
    service: "webhook-dispatcher",
    path: "/console/api/webhook-endpoints",
    headers: { cookie: shop.cookie },
  });

const requestCycle = [
  createLink,
  payLink,
  retrieveLink,
  listEndpoints,
  payLink,
  readSession,
  listLinks,
  retrieveLink,
  listEndpoints,
  readSession,
];

/**
 * Returns a function that sends a request and returns the response text. If the response has an
 * unexpected status, the function counts a failure and returns undefined.
 */
const createCheckedSender = (connectionKind) => async (expectedStatus, requestOptions) => {
  const sentAt = Date.now();
  const { status, text } = await sendRequest(connectionKind, requestOptions);
  stats.slowestMs = Math.max(stats.slowestMs, Date.now() - sentAt);
  if (status === expectedStatus) return text;
  const { service, method = "GET" } = requestOptions;
  const failureName = `${connectionKind} ${service} ${method}: ${status}`;
  stats.failures[failureName] = (stats.failures[failureName] ?? 0) + 1;
  stats.lastFailedAt = Math.max(stats.lastFailedAt, sentAt);
  return undefined;
};

const sendNextRequest = async (requestIndex) => {
  if (inFlightCount >= inFlightMax) {
    stats.skipped += 1;
    return;
  }
  inFlightCount += 1;
  stats.sent += 1;
  // Shifts by one in each cycle, so each request type uses both kinds of connections.
  const connectionKind =
    (requestIndex + Math.floor(requestIndex / requestCycle.length)) % 2 === 0 ? "new" : "kept";
  await requestCycle[requestIndex % requestCycle.length](createCheckedSender(connectionKind));
  inFlightCount -= 1;
};

const generateLoad = async () => {
  const startedAt = performance.now();
  let requestIndex = 0;
  while (!stopController.signal.aborted) {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > loadMsMax) throw new Error(`the load was not stopped within ${loadMsMax} ms`);
    const dueRequestCount = (elapsedMs * Number(REQUESTS_PER_SECOND)) / 1000;
    for (; requestIndex < dueRequestCount; requestIndex += 1) void sendNextRequest(requestIndex);
    await sleep(5);
  }
};

// The webhooks that the receiver is currently processing. An artificial delay makes concurrent
// attempts visible.
const webhooksInProgress = new Set();
const attemptCounts = { all: 0, atOnce: 0, afterItsEnd: 0, forged: 0, unknown: 0 };
/** The time of the 2xx response to each webhook, by event ID. */
const acknowledgedAtById = new Map();
const repeatedWebhooks = [];
let newestReportedAt = 0;

const receiveWebhook = async (req, res) => {
  const webhook = await verifyWebhook(req, shop.webhookSecret);
  if (webhook === undefined) {
    attemptCounts.forged += 1;
    return res.writeHead(401).end();
  }
  const { id, type, data } = webhook;
  attemptCounts.all += 1;
  if (webhooksInProgress.has(id)) attemptCounts.atOnce += 1;
  webhooksInProgress.add(id);
  await sleep(20 + Math.random() * 80);
  webhooksInProgress.delete(id);
  const link = linksById.get(data.paymentLinkId);
  if (link === undefined) attemptCounts.unknown += 1;
  if (link?.webhooks.has(id)) {
    attemptCounts.afterItsEnd += 1;
    repeatedWebhooks.push({
      id,
      answeredAt: acknowledgedAtById.get(id),
      againAt: new Date().toISOString(),
    });
  }
  link?.webhooks.set(id, `${type} ${data.transaction?.id ?? ""}`);
  newestReportedAt = Math.max(newestReportedAt, ...(link?.acceptedAt ?? []));
  acknowledgedAtById.set(id, new Date().toISOString());
  return res.writeHead(204).end();
};

const listIncompleteLinks = () =>
  [...linksById.values()].filter(
    ({ acceptedAt, webhooks }) =>
      webhooks.size < acceptedAt.length + (acceptedAt.length === paymentsPerLink ? 1 : 0),
  );

/** Returns the current counts. Ages are in milliseconds, or null if there was no such event. */
const readState = () => {
  const getAgeMs = (time) => (time === 0 || !Number.isFinite(time) ? null : Date.now() - time);
  return {
    ...stats,
    lastFailedMs: getAgeMs(stats.lastFailedAt),
    newestNotifiedMs: getAgeMs(newestReportedAt),
    oldestPendingMs: getAgeMs(
      Math.min(...listIncompleteLinks().flatMap(({ acceptedAt }) => acceptedAt)),
    ),
    dueNotices: pendingNotices.length,
    links: linksById.size,
  };
};

const server = createServer(async (req, res) => {
  if (req.method === "POST" && req.url === webhookPath) return await receiveWebhook(req, res);
  if (req.url === "/state") return res.end(JSON.stringify(readState()));
  if (req.method === "POST" && req.url === "/end") stopController.abort();
  return res.writeHead(204).end();
});

/** Compares each link's received amount with its accepted payments, and returns the mismatches. */
const findWrongCredits = async () => {
  const mismatches = [];
  const uncheckedLinks = [...linksById];
  const checkRemainingLinks = async () => {
    for (let entry = uncheckedLinks.pop(); entry !== undefined; entry = uncheckedLinks.pop()) {
      const [id, { acceptedAt }] = entry;
      const { status, text } = await sendRequest("kept", {
        service: "links-api",
        path: `/v1/payment-link/${id}`,
      });
      const received = status === 200 ? JSON.parse(text).receivedAmount : status;
      const expected = String(Number(paymentAmount) * acceptedAt.length);
      if (received !== expected) mismatches.push(`${id}: ${received}, not ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: checkConcurrency }, checkRemainingLinks));
  return mismatches;
};

/**
 * Counts the links with missing webhooks, and the links with more than one event for the same
 * change.
 */
const countWrongWebhooks = () => {
  const hasAllWebhooks = ({ webhooks }) => new Set(webhooks.values()).size === webhooksPerLink;
  const allLinks = [...linksById.values()];
  return {
    linksMissingWebhooks: allLinks.filter((link) => !hasAllWebhooks(link)).length,
    webhooksMadeTwice: allLinks.filter(
      ({ webhooks }) => webhooks.size > new Set(webhooks.values()).size,
    ).length,
  };
};

/**
 * Returns the first webhooks that arrived again after a 2xx response, each with the dispatcher's
 * delivery record.
 */
const describeRepeats = () =>
  Promise.all(
    repeatedWebhooks.slice(0, 5).map(async (repeat) => {
      const { text } = await sendRequest("new", {
        service: "webhook-dispatcher",
        path: `/console/api/webhook-endpoints/${shop.endpointId}/deliveries/${repeat.id}`,
        headers: { cookie: shop.cookie },
      });
      return { ...repeat, delivery: text };
    }),
  );

const waitForSettlement = async () => {
  await waitUntil(
    "all pending requests have responses",
    () => inFlightCount === 0,
    requestMsMax * 2,
  );
  const deadline = performance.now() + settleMsMax;
  while (pendingNotices.length > 0 && performance.now() < deadline) {
    await payLink(async (expectedStatus, requestOptions) => {
      const { status, text } = await sendRequest("new", requestOptions);
      return status === expectedStatus ? text : undefined;
    });
    await sleep(10);
  }
  while (listIncompleteLinks().length > 0 && performance.now() < deadline) await sleep(100);
  // Leaves time for unexpected attempts to arrive.
  await sleep(2_000);
};

server.listen(Number(RECEIVER_PORT));
shop = await createShop(SIGN_IN_TOKEN);
await generateLoad();
await waitForSettlement();
const wrongCredits = await findWrongCredits();
console.log(
  JSON.stringify({
    ...stats,
    links: linksById.size,
    payments: [...linksById.values()].flatMap(({ acceptedAt }) => acceptedAt).length,
    paymentsNeverAccepted: pendingNotices.length,
    linksCreditedWrongly: wrongCredits.length,
    wrongCredits: wrongCredits.slice(0, 5),
    ...countWrongWebhooks(),
    webhookAttempts: attemptCounts,
    repeats: await describeRepeats(),
  }),
);
process.exit(0);
