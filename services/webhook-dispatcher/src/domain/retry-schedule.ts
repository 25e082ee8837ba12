/** Waits before the first, second, … attempt, each after the end of the one before (rule HOOK-14). */
export type RetrySchedule = readonly number[];

/** Attempts that a delivery can have in total (rule HOOK-14). */
export const attemptsMax = 6;

/** Waits may grow by up to 10 % (rule HOOK-14); the other half is left for the claim itself. */
const jitterRatioMax = 0.05;

type FailedAttempt = { attempts: number; endedAt: Date; random: number };

/**
 * When a delivery is tried again after its failed attempt number `attempts`, or null where that was the
 * last. `random`, from 0 to 1, spreads what failed together: later only, never earlier.
 */
export const computeNextAttemptAt = (
  schedule: RetrySchedule,
  { attempts, endedAt, random }: FailedAttempt,
): Date | null => {
  const waitMs = attempts < attemptsMax ? schedule[attempts] : undefined;
  if (waitMs === undefined) return null;
  return new Date(endedAt.getTime() + Math.ceil(waitMs * (1 + jitterRatioMax * random)));
};
