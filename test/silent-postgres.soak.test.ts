import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { listDescendants } from "./rig/descendants.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "./rig/shop-env.ts";

const configuredSeconds = process.env["SILENT_SECONDS"];
const silentMs = 1_000 * Number(configuredSeconds ?? 20);
/**
 * A busy machine can exceed the limit of 6 s. A run with a configured length must meet the limit.
 */
const responseMsMax = configuredSeconds === undefined ? hangLimitMs(6_000) : 6_000;
const baselineMs = Math.max(5_000, silentMs / 6);
const callIntervalMs = 20;
const testMsMax = silentMs + 600_000;

type CallKind = "create" | "list" | "retrieve" | "checkout" | "notice";
type ObservedResponse = { kind: CallKind; startedAtMs: number; durationMs: number; status: number };

/** The number of callers of each kind, each with one call at a time. */
const callerCountByKind: Record<CallKind, number> = {
  create: 3,
  list: 2,
  retrieve: 2,
  checkout: 2,
  notice: 3,
};

/** The allowed errors while Postgres can neither read nor write. */
const allowedFailures: Record<CallKind, readonly number[]> = {
  create: [500, 503],
  list: [404, 500, 503],
  retrieve: [500, 503],
  checkout: [500, 503],
  notice: [500, 503],
};

let system: Awaited<ReturnType<typeof startAllInOneSystem>>;
let receiver: WebhookReceiver;
let shop: Merchant;
let paidLinkId: string;
const responses: ObservedResponse[] = [];
/** What each successful call created: a link by its idempotency key, or a notice. */
const linkIdsByKey = new Map<string, string>();
const acceptedNoticeIds: string[] = [];
let noticeCount = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startAllInOneSystem({ ...buildShopEnv(receiver), ...unlimitedEnv });
  shop = await createMerchant(system, "silent");
  await registerEndpoint(system, shop, "https://receiver.test/hook");
  const link = await createLink(randomUUID());
  paidLinkId = String(link.body["id"]);
});

afterAll(async () => {
  await signalPostgres("SIGCONT");
  await system?.close();
  await receiver?.close();
});

/** Sends a signal to the postmaster and all its descendants. */
const signalPostgres = async (signal: "SIGSTOP" | "SIGCONT"): Promise<number> => {
  const pids = system === undefined ? [] : await listDescendants(system.pid, "postgres");
  for (const pid of pids) process.kill(pid, signal);
  return pids.length;
};

const createLink = (key: string) =>
  call(`${system.baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": shop.apiKey, "idempotency-key": key },
    body: { toAmount: "999999999" },
  });

/**
 * Creates a call of a kind. Like a careful client, it is repeated with the same idempotency key
 * until it succeeds.
 */
const createCallByKind: Record<CallKind, () => () => Promise<number>> = {
  create: () => {
    const key = randomUUID();
    return async () => {
      const { status, body } = await createLink(key);
      if (status === 200) linkIdsByKey.set(key, String(body["id"]));
      return status;
    };
  },
  list: () => () => fetchStatus("/v1/payment-link", { "x-api-key": shop.apiKey }),
  retrieve: () => () => fetchStatus(`/v1/payment-link/${paidLinkId}`),
  checkout: () => () => fetchStatus(`/checkout/payment-links/${paidLinkId}`),
  notice: () => {
    noticeCount += 1;
    const id = `notice-${noticeCount}`;
    return async () => {
      const notice = { id, paymentLinkId: paidLinkId, amount: "1", status: "settled" as const };
      const status = await sendNotice(system.baseUrl, acmeProvider, notice);
      if (status === 202) acceptedNoticeIds.push(id);
      return status;
    };
  },
};

const fetchStatus = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
  (await call(`${system.baseUrl}${path}`, { headers })).status;

const isSuccess = (status: number): boolean => status === 200 || status === 202;

const runCaller = async (kind: CallKind, load: { shouldStop: boolean }): Promise<void> => {
  while (!load.shouldStop) {
    const send = createCallByKind[kind]();
    for (let status = 0; !isSuccess(status);) {
      const startedAt = performance.now();
      status = await send();
      responses.push({
        kind,
        startedAtMs: startedAt,
        durationMs: performance.now() - startedAt,
        status,
      });
      await injectDelay("load pace", callIntervalMs);
    }
  }
};

const computeP99 = (samples: readonly ObservedResponse[]): number => {
  const durationsMs = samples.map((response) => response.durationMs).sort((a, b) => a - b);
  return Math.round(durationsMs[Math.ceil(durationsMs.length * 0.99) - 1] ?? 0);
};

/**
 * Returns the time from the recovery until the response times were at most twice as long as usual.
 */
const normalAfterMs = (returnedAtMs: number, normalP99Ms: number): number => {
  const lateResponses = responses.filter(
    ({ startedAtMs, durationMs, status }) =>
      startedAtMs >= returnedAtMs && (durationMs > 2 * normalP99Ms || !isSuccess(status)),
  );
  return Math.round(
    Math.max(0, ...lateResponses.map(({ startedAtMs }) => startedAtMs - returnedAtMs)),
  );
};

test(
  `with Postgres silent for ${silentMs / 1_000} s under load, every call gets a response, and nothing is lost or duplicated`,
  async () => {
    const load = { shouldStop: false };
    const kinds = Object.keys(callerCountByKind) as CallKind[];
    const callerPromises = kinds.flatMap((kind) =>
      Array.from({ length: callerCountByKind[kind] }, () => runCaller(kind, load)),
    );
    await injectDelay("load pace", baselineMs);
    const stoppedAtMs = performance.now();
    const normalP99Ms = computeP99(responses);
    expect(await signalPostgres("SIGSTOP")).toBeGreaterThan(5);
    const haveAllKindsResponded = (
      sinceMs: number,
      predicate: (response: ObservedResponse) => boolean,
    ) =>
      kinds.every((kind) =>
        responses.some(
          (response) =>
            response.kind === kind && response.startedAtMs > sinceMs && predicate(response),
        ),
      );
    await injectDelay("fault duration", silentMs);
    // Postgres stays silent until each kind of call has a response. This shows that no call waits
    // for the end of the silence.
    await waitUntil("each kind of call gets a response while Postgres is silent", () =>
      haveAllKindsResponded(stoppedAtMs, ({ status }) => !isSuccess(status)),
    );
    await signalPostgres("SIGCONT");
    const returnedAtMs = performance.now();
    const settledAtMs = returnedAtMs + 5_000;
    await waitUntil("each kind of call succeeds after Postgres responds again", () =>
      haveAllKindsResponded(settledAtMs, ({ status }) => isSuccess(status)),
    );
    load.shouldStop = true;
    await Promise.all(callerPromises);

    const responsesDuringSilence = responses.filter(
      ({ startedAtMs, durationMs }) =>
        startedAtMs > stoppedAtMs && startedAtMs + durationMs < returnedAtMs,
    );
    const slowestMs = Math.round(Math.max(...responses.map(({ durationMs }) => durationMs)));
    const responsesAfterReturn = responses.filter(({ startedAtMs }) => startedAtMs > settledAtMs);
    process.stderr.write(
      `silent for ${silentMs} ms: ${responses.length} responses, ${responsesDuringSilence.length} of them meanwhile; ` +
        `slowest ${slowestMs} ms; p99 ${normalP99Ms} ms before, ${computeP99(responsesAfterReturn)} ms from 5 s after ` +
        `the silence; the last request that took over twice the p99 started ` +
        `${normalAfterMs(returnedAtMs, normalP99Ms)} ms after the silence\n`,
    );
    expect(slowestMs).toBeLessThan(responseMsMax);
    for (const { kind, status } of responsesDuringSilence.filter(
      (response) => !isSuccess(response.status),
    )) {
      expect(allowedFailures[kind]).toContain(status);
    }
    for (const kind of kinds) {
      expect(
        responsesDuringSilence.some(
          (response) => response.kind === kind && !isSuccess(response.status),
        ),
      ).toBe(true);
      expect(
        responsesAfterReturn.some(
          (response) => response.kind === kind && isSuccess(response.status),
        ),
      ).toBe(true);
    }
    await expectEachAppliedOnce();
  },
  testMsMax,
);

const expectEachAppliedOnce = async (): Promise<void> => {
  expect(acceptedNoticeIds).toHaveLength(noticeCount);
  const readReceivedAmount = async () => {
    const { body } = await call(`${system.baseUrl}/v1/payment-link/${paidLinkId}`);
    return BigInt(String(body["receivedAmount"]));
  };
  await waitUntil(
    "every payment has been credited",
    async () => (await readReceivedAmount()) >= noticeCount,
  );
  const getTransactionIds = () =>
    new Set(receiver.received.map(({ body }) => String(body.data.transaction?.["id"])));
  await waitUntil("all webhooks arrive", () => getTransactionIds().size >= noticeCount);
  expect(await readReceivedAmount()).toBe(BigInt(noticeCount));
  expect(getTransactionIds().size).toBe(noticeCount);

  const ids = new Set<string>();
  for (let offset: number | null = 0; offset !== null;) {
    const { body } = await call(`${system.baseUrl}/v1/payment-link?offset=${offset}`, {
      headers: { "x-api-key": shop.apiKey },
    });
    for (const { id } of body["data"] as { id: string }[]) ids.add(id);
    offset = body["nextOffset"] as number | null;
  }
  ids.delete(paidLinkId);
  expect([...ids].sort()).toEqual([...linkIdsByKey.values()].sort());
};
