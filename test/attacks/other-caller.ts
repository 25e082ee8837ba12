import type { Merchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { addOne } from "./counts.ts";
import { type Call, type Outcome, type Ports, openHttpCaller } from "./http-caller.ts";

export const operations = ["create", "retrieve", "checkout page"] as const;
type Operation = (typeof operations)[number];

/** How the calls of another caller went within a window. */
export type Window = {
  p50: Record<Operation, number>;
  p99: Record<Operation, number>;
  callCount: number;
  answers: Record<string, number>;
  /** Calls without a whole answer: refused or cut connections, and no answer within 30 s. */
  errors: Record<string, number>;
  serverErrors: number;
  /** Calls that were sent again, because the product had closed a kept connection before them. */
  retried: number;
};

/** No attacker has this address. */
const address = "127.0.2.1";
/** Of each operation, so that all stay within the limits of one address and one key. */
const perSecond = 5;
const tickMs = 20;

/**
 * Opens a caller of an account of its own, which makes and reads links as a shop does and opens its
 * checkout page as a payer does. It sends at a steady rate, however long answers take.
 */
export const openOtherCaller = async (ports: Ports, { apiKey, handle }: Merchant) => {
  const caller = openHttpCaller(ports, address);
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

  /** Sends a call again if its kept connection was closed before an answer began, as HTTP clients do. */
  const send = async (call: Call): Promise<Outcome & { isRetried: boolean }> => {
    const outcome = await caller.send(call);
    if (outcome.error !== "ECONNRESET" || !outcome.isReused)
      return { ...outcome, isRetried: false };
    const again = await caller.send(call);
    return { ...again, ms: outcome.ms + again.ms, isRetried: true };
  };

  return {
    measure: async (seconds: number): Promise<Window> => {
      const durations: Record<Operation, number[]> = {
        create: [],
        retrieve: [],
        "checkout page": [],
      };
      const window = { callCount: 0, answers: {}, errors: {}, serverErrors: 0, retried: 0 };
      const ask = async (operation: Operation): Promise<void> => {
        const { error, isRetried, ms, status } = await send(calls[operation]);
        durations[operation].push(ms);
        window.callCount += 1;
        if (isRetried) window.retried += 1;
        if (status === undefined) addOne(window.errors, error ?? "unknown");
        else addOne(window.answers, status);
        if (status !== undefined && status >= 500) window.serverErrors += 1;
      };
      await sendEvenly(seconds, ask);
      const of = (share: number) =>
        Object.fromEntries(
          operations.map((operation) => [operation, percentile(durations[operation], share)]),
        ) as Record<Operation, number>;
      return { ...window, p50: of(0.5), p99: of(0.99) };
    },
    close: () => caller.close(),
  };
};

const sendEvenly = async (
  seconds: number,
  ask: (operation: Operation) => Promise<void>,
): Promise<void> => {
  const startedAtMs = performance.now();
  const count = Math.ceil(seconds * perSecond * operations.length);
  const asked: Promise<void>[] = [];
  const { promise: allSent, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    const elapsedSeconds = (performance.now() - startedAtMs) / 1_000;
    const dueCount = Math.min(count, elapsedSeconds * perSecond * operations.length);
    while (asked.length < dueCount) {
      const operation = operations[asked.length % operations.length];
      if (operation !== undefined) asked.push(ask(operation));
    }
    if (asked.length >= count) resolve();
  }, tickMs);
  await allSent;
  clearInterval(timer);
  await Promise.all(asked);
};
