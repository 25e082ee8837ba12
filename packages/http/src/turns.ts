import { type Clock, afterMs } from "@payment-links/runtime";

/** How long somebody waits for a turn, and how many others may wait already. */
export type WaitBounds = { waitMsMax: number; waitingMax: number };

/** Turns of which there is one at a time, in the order in which they were asked for. */
export type Turns = {
  /**
   * Waits for a turn, within bounds if there are any. Answers what ends it, or undefined if it does not
   * come in time. The next begins after a rest as long as this one took, so that turns take half of the
   * time of what they use.
   */
  begin(bounds?: WaitBounds): Promise<(() => void) | undefined>;
};

/** Makes the turns of one thing that many want. */
export const createTurns = (clock: Clock): Turns => {
  // A set keeps the order, and whoever gives up leaves it from the middle.
  const waiting = new Set<(isMine: boolean) => void>();
  let isTaken = false;

  const handOver = (): void => {
    const [next] = waiting;
    isTaken = next !== undefined;
    if (next === undefined) return;
    waiting.delete(next);
    next(true);
  };

  const take = (): (() => void) => {
    const startedAtMs = clock.elapsedMs();
    return () => {
      const tookMs = clock.elapsedMs() - startedAtMs;
      void clock.until(afterMs(clock, tookMs), new AbortController().signal).then(handOver);
    };
  };

  const wait = async (waitMsMax: number | undefined): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    waiting.add(resolve);
    if (waitMsMax === undefined) return promise;
    const ended = new AbortController();
    void clock.until(afterMs(clock, waitMsMax), ended.signal).then(() => {
      if (waiting.delete(resolve)) resolve(false);
    });
    return promise.finally(() => ended.abort());
  };

  return {
    begin: async (bounds) => {
      if (!isTaken) {
        isTaken = true;
        return take();
      }
      if (bounds !== undefined && waiting.size >= bounds.waitingMax) return undefined;
      return (await wait(bounds?.waitMsMax)) ? take() : undefined;
    },
  };
};
