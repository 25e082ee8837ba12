import type { Clock } from "@payment-links/runtime";

const resetIntervalMs = 60 * 60_000;

/** Where a job begins to look, whose index has dead entries in front until vacuum runs. */
export type LowerBound = {
  /** The instant to look from; undefined means from the start. */
  getStartTime(): Date | undefined;
  /** The run came as far as this; undefined means that it found nothing. */
  advanceTo(until: Date | undefined): void;
};

/**
 * Lets each run go on where the last one ended. Once an hour one begins at the start again, for what
 * was locked or came late.
 */
export const createLowerBound = (clock: Clock): LowerBound => {
  let startTime: Date | undefined;
  let startedAtMs = clock.elapsedMs();
  return {
    getStartTime: () => {
      if (clock.elapsedMs() - startedAtMs < resetIntervalMs) return startTime;
      startedAtMs = clock.elapsedMs();
      startTime = undefined;
      return startTime;
    },
    advanceTo: (until) => {
      startTime = until ?? startTime;
    },
  };
};
