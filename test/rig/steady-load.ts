import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { waitUntil } from "@payment-links/runtime/testing";

/** A call of the load. `run` throws if the response is unexpected. */
type LoadCall = { name: string; run: () => Promise<void> };

/** A running load and its results so far. */
export type SteadyLoad = {
  sentCount(): number;
  /** Returns a description of each call with an unexpected response. */
  failures(): readonly string[];
  /** Stops sending calls and waits for pending responses. */
  stop(): Promise<void>;
};

const tickMs = 5;
/** Limits the load on a busy machine, so that calls do not fail because of overload. */
const inFlightMax = 6;

/** Runs the calls in turn at the rate `perSecond`, with at most `inFlightMax` pending calls. */
export const startSteadyLoad = (perSecond: number, calls: readonly LoadCall[]): SteadyLoad => {
  const failures: string[] = [];
  let sentCount = 0;
  let inFlightCount = 0;
  const abortController = new AbortController();
  const runCall = async ({ name, run }: LoadCall) => {
    inFlightCount += 1;
    const sentAt = new Date().toISOString();
    try {
      await run();
    } catch (error) {
      failures.push(`${sentAt} ${name}: ${String(error)}`);
    }
    inFlightCount -= 1;
  };
  const sendCalls = async () => {
    let nextDueAt = performance.now();
    while (!abortController.signal.aborted) {
      const nowMs = performance.now();
      for (; nextDueAt < nowMs; nextDueAt += 1000 / perSecond) {
        const nextCall = calls[sentCount % calls.length];
        if (inFlightCount >= inFlightMax || nextCall === undefined) continue;
        sentCount += 1;
        void runCall(nextCall);
      }
      await injectDelay("load pace", tickMs);
    }
  };
  const sendLoop = sendCalls();
  return {
    sentCount: () => sentCount,
    failures: () => failures,
    stop: async () => {
      abortController.abort();
      await sendLoop;
      await waitUntil("all pending requests have responses", () => inFlightCount === 0);
    },
  };
};
