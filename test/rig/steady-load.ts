import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { waitUntil } from "@payment-links/runtime/testing";

/** One call of a caller, which throws where its answer is not what it should be. */
type Turn = { name: string; take: () => Promise<void> };

/** What a load has seen so far. */
export type SteadyLoad = {
  sentCount(): number;
  /** Each call whose answer was not what it should be, in words. */
  faults(): readonly string[];
  /** Sends no more, and waits for the answers under way. */
  stop(): Promise<void>;
};

const pauseMs = 5;
/** A machine that is too busy gets fewer calls, so that those which fail do so for another reason. */
const underWayMax = 6;

/** Takes the turns one after the other, so many each second as long as the answers keep up. */
export const startSteadyLoad = (perSecond: number, turns: readonly Turn[]): SteadyLoad => {
  const faults: string[] = [];
  let sentCount = 0;
  let underWay = 0;
  const ending = new AbortController();
  const take = async ({ name, take }: Turn) => {
    underWay += 1;
    const sentAt = new Date().toISOString();
    try {
      await take();
    } catch (error) {
      faults.push(`${sentAt} ${name}: ${String(error)}`);
    }
    underWay -= 1;
  };
  const keepOn = async () => {
    let dueSince = performance.now();
    while (!ending.signal.aborted) {
      const now = performance.now();
      for (; dueSince < now; dueSince += 1000 / perSecond) {
        const turn = turns[sentCount % turns.length];
        if (underWay >= underWayMax || turn === undefined) continue;
        sentCount += 1;
        void take(turn);
      }
      await injectDelay("load pace", pauseMs);
    }
  };
  const running = keepOn();
  return {
    sentCount: () => sentCount,
    faults: () => faults,
    stop: async () => {
      ending.abort();
      await running;
      await waitUntil("the answers under way", () => underWay === 0);
    },
  };
};
