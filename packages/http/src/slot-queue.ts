import { type Clock, afterMs } from "@payment-links/runtime";

/** The maximum time that a caller waits for the slot, and the maximum number of waiting callers. */
export type WaitLimits = { waitMsMax: number; waitersMax: number };

/** A single slot. Callers acquire it in request order. */
export type SlotQueue = {
  /**
   * Waits for the slot within the given limits. Returns the function that releases it, or undefined
   * if the queue is full or the wait times out. After a release, the slot stays free for as long as
   * it was occupied, so it is in use for at most half of the time.
   */
  acquire(limits?: WaitLimits): Promise<(() => void) | undefined>;
};

/** Creates a queue for one slot. */
export const createSlotQueue = (clock: Clock): SlotQueue => {
  // A set preserves the order, and a waiter that times out can be removed from it.
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
      void clock.sleepUntil(afterMs(clock, heldMs)).then(handOverSlot);
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
