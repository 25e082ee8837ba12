import type { Merchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { increment } from "./counts.ts";
import {
  type Call,
  type HttpCaller,
  type CallResult,
  type Ports,
  createHttpCaller,
} from "./http-caller.ts";

export const operations = ["create", "retrieve", "checkout page"] as const;
type Operation = (typeof operations)[number];

/** The results of the other callers' calls within a window. */
export type Window = {
  p50: Record<Operation, number>;
  p99: Record<Operation, number>;
  callCount: number;
  responses: Record<string, number>;
  /**
   * Calls without a complete response: a refused or broken connection, or no response within 30 s.
   */
  errors: Record<string, number>;
  serverErrors: number;
  /** Calls that were retried because the product had closed their idle connection. */
  retried: number;
};

/**
 * Calls per second for each operation and caller. This is below the rate limits for one address and
 * one key.
 */
const perSecond = 5;
const tickMs = 20;

type OtherCaller = {
  send: (operation: Operation) => Promise<CallResult & { isRetried: boolean }>;
  close: () => void;
};

/**
 * Creates callers, each with its own account and address. The callers create and retrieve links
 * like a shop and open the checkout page like a payer. Their rate is steady and does not depend on
 * response times. A single caller would make too few calls for a p99.
 */
export const createOtherCallers = async (ports: Ports, merchants: readonly Merchant[]) => {
  const callers = await Promise.all(
    merchants.map((merchant, index) => {
      // No attacker uses these addresses.
      const caller = createHttpCaller(ports, `127.0.2.${index + 1}`);
      return createOtherCaller(caller, merchant);
    }),
  );
  return {
    measure: async (seconds: number): Promise<Window> => {
      const durations: Record<Operation, number[]> = {
        create: [],
        retrieve: [],
        "checkout page": [],
      };
      const window = { callCount: 0, responses: {}, errors: {}, serverErrors: 0, retried: 0 };
      const runOperation = async (operation: Operation, caller: OtherCaller): Promise<void> => {
        const { error, isRetried, ms, status } = await caller.send(operation);
        durations[operation].push(ms);
        window.callCount += 1;
        if (isRetried) window.retried += 1;
        if (status === undefined) increment(window.errors, error ?? "unknown");
        else increment(window.responses, status);
        if (status !== undefined && status >= 500) window.serverErrors += 1;
      };
      await sendEvenly(seconds, callers, runOperation);
      const percentilesAt = (share: number) =>
        Object.fromEntries(
          operations.map((operation) => [operation, percentile(durations[operation], share)]),
        ) as Record<Operation, number>;
      return { ...window, p50: percentilesAt(0.5), p99: percentilesAt(0.99) };
    },
    close: () => {
      for (const caller of callers) caller.close();
    },
  };
};

const createOtherCaller = async (
  caller: HttpCaller,
  { apiKey, handle }: Merchant,
): Promise<OtherCaller> => {
  const create: Call = {
    method: "POST",
    path: "/v1/payment-link",
    headers: { "x-api-key": apiKey },
    body: JSON.stringify({ toAmount: "25" }),
  };
  const { text } = await caller.send(create);
  const { id } = JSON.parse(text) as { id: string };
  const calls: Record<Operation, Call> = {
    create,
    retrieve: { path: `/v1/payment-link/${id}` },
    "checkout page": { path: `/@${handle}/pay/${id}`, headers: { accept: "text/html" } },
  };
  return {
    /**
     * Sends a call. Like other HTTP clients, retries it if its keep-alive connection was closed
     * before the response began.
     */
    send: async (operation) => {
      const result = await caller.send(calls[operation]);
      if (result.error !== "ECONNRESET" || !result.isReused) return { ...result, isRetried: false };
      const retryResult = await caller.send(calls[operation]);
      return { ...retryResult, ms: result.ms + retryResult.ms, isRetried: true };
    },
    close: () => caller.close(),
  };
};

/**
 * Distributes the calls evenly over time. The callers take turns, and each rotates through the
 * operations.
 */
const sendEvenly = async (
  seconds: number,
  callers: readonly OtherCaller[],
  runOperation: (operation: Operation, caller: OtherCaller) => Promise<void>,
): Promise<void> => {
  const startedAtMs = performance.now();
  const perSecondOfAll = perSecond * operations.length * callers.length;
  const count = Math.ceil(seconds * perSecondOfAll);
  const running: Promise<void>[] = [];
  const { promise: allSent, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    const elapsedSeconds = (performance.now() - startedAtMs) / 1_000;
    const dueCount = Math.min(count, elapsedSeconds * perSecondOfAll);
    while (running.length < dueCount) {
      const turn = running.length;
      const caller = callers[turn % callers.length] as OtherCaller;
      const operation = operations[Math.floor(turn / callers.length) % operations.length];
      running.push(runOperation(operation as Operation, caller));
    }
    if (running.length >= count) resolve();
  }, tickMs);
  await allSent;
  clearInterval(timer);
  await Promise.all(running);
};
