import type { Clock } from "@payment-links/runtime";

const resetIntervalMs = 60 * 60_000;

/** The start of a job's index scan. It skips dead index entries that vacuum has not removed yet. */
export type LowerBound = {
  /** The time from which to scan; undefined means from the start. */
  getStartTime(): Date | undefined;
  /** Records how far the run got; undefined means that it found nothing. */
  advanceTo(until: Date | undefined): void;
};

/**
 * Creates a lower bound so that each run continues where the last one ended. Once an hour a run
 * starts over, to find rows that were locked or inserted late.
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
