import { type Clock, afterMs } from "@payment-links/runtime";

/** How long somebody waits for a turn, and how many others may wait already. */
export type WaitLimits = { waitMsMax: number; waitersMax: number };

/** Turns of which there is one at a time, in the order in which they were asked for. */
export type SlotQueue = {
  /**
   * Waits for a turn, within bounds if there are any. Answers what ends it, or undefined if it does not
   * come in time. The next begins after a rest as long as this one took, so that turns take half of the
   * time of what they use.
   */
  acquire(limits?: WaitLimits): Promise<(() => void) | undefined>;
};

/** Makes the turns of one thing that many want. */
export const createSlotQueue = (clock: Clock): SlotQueue => {
  // A set keeps the order, and whoever gives up leaves it from the middle.
  const waiters = new Set<(isAcquired: boolean) => void>();
  let isBusy = false;

  const handOverSlot = (): void => {
    const [nextWaiter] = waiters;
    isBusy = nextWaiter !== undefined;
    if (nextWaiter === undefined) return;
    waiters.delete(nextWaiter);
    nextWaiter(true);
  };

  const occupy = (): (() => void) => {
    const startedAtMs = clock.elapsedMs();
    return () => {
      const heldMs = clock.elapsedMs() - startedAtMs;
      void clock
        .sleepUntil(afterMs(clock, heldMs), new AbortController().signal)
        .then(handOverSlot);
    };
  };

  const waitForSlot = async (waitMsMax: number | undefined): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    waiters.add(resolve);
    if (waitMsMax === undefined) return promise;
    const waitAbort = new AbortController();
    void clock.sleepUntil(afterMs(clock, waitMsMax), waitAbort.signal).then(() => {
      if (waiters.delete(resolve)) resolve(false);
    });
    return promise.finally(() => waitAbort.abort());
  };

  return {
    acquire: async (limits) => {
      if (!isBusy) {
        isBusy = true;
        return occupy();
      }
      if (limits !== undefined && waiters.size >= limits.waitersMax) return undefined;
      return (await waitForSlot(limits?.waitMsMax)) ? occupy() : undefined;
    },
  };
};
