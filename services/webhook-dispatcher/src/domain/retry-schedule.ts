/** The waits before each attempt, counted from the end of the previous one (rule HOOK-14). */
export type RetrySchedule = readonly number[];

/** The maximum number of attempts per delivery (rule HOOK-14). */
export const attemptsMax = 6;

/**
 * The maximum jitter. Waits may grow by 10% in total (rule HOOK-14). The other half allows for the
 * time until the delivery is claimed.
 */
const jitterRatioMax = 0.05;

type FailedAttempt = { attempts: number; endedAt: Date; random: number };

/**
 * Returns when to retry after failed attempt number `attempts`, or null if that was the last
 * attempt. `random`, from 0 to 1, spreads out the retries of simultaneous failures. It makes them
 * later, never earlier.
 */
export const computeNextAttemptAt = (
  schedule: RetrySchedule,
  { attempts, endedAt, random }: FailedAttempt,
): Date | null => {
  const waitMs = attempts < attemptsMax ? schedule[attempts] : undefined;
  if (waitMs === undefined) return null;
  return new Date(endedAt.getTime() + Math.ceil(waitMs * (1 + jitterRatioMax * random)));
};
