import type { Clock } from "@payment-links/runtime";

const resetIntervalMs = 60 * 60_000;

/**
 * The time at which a job's index scan starts. It skips dead index entries that vacuum has not
 * removed yet.
 */
export type LowerBound = {
  /** Returns the time at which to start the scan, or undefined to start from the beginning. */
  getStartTime(): Date | undefined;
  /** Records how far the run got. Undefined means that the run did not find any rows. */
  advanceTo(until: Date | undefined): void;
};

/**
 * Creates a lower bound, with which each run continues where the previous one ended. Once an hour,
 * a run starts from the beginning to find rows that were locked or inserted late.
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
