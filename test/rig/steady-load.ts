import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { waitUntil } from "@payment-links/runtime/testing";

/** One call of a caller, which throws where its answer is not what it should be. */
type LoadCall = { name: string; run: () => Promise<void> };

/** What a load has seen so far. */
export type SteadyLoad = {
  sentCount(): number;
  /** Each call whose answer was not what it should be, in words. */
  failures(): readonly string[];
  /** Sends no more, and waits for the answers under way. */
  stop(): Promise<void>;
};

const tickMs = 5;
/** A machine that is too busy gets fewer calls, so that those which fail do so for another reason. */
const inFlightMax = 6;

/** Takes the turns one after the other, so many each second as long as the answers keep up. */
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
      await waitUntil("the answers under way", () => inFlightCount === 0);
    },
  };
};
