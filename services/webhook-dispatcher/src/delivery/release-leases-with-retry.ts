import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";

type ReleaseOptions<Lease> = {
  /** Releases leases in one transaction. Returns those that another transaction has locked. */
  releaseLeases: (leases: readonly Lease[]) => Promise<readonly Lease[]>;
  clock: Clock;
  log: Log;
};

/**
 * The waits are short, because a try is only one statement. Only a graceful shutdown waits for it.
 */
const backoff = { initialMs: 100, maxMs: 2_000 };

/**
 * Releases the leases of attempts that never started. Retries locked leases, and all leases while
 * the database is unavailable, until they expire. An attempt whose lease expires counts as made.
 */
export const releaseLeasesWithRetry = async <Lease extends { leaseUntil: Date }>(
  { releaseLeases, clock, log }: ReleaseOptions<Lease>,
  leases: readonly Lease[],
): Promise<void> => {
  let remainingLeases = leases;
  for (let tries = 1; remainingLeases.length > 0; tries += 1) {
    try {
      remainingLeases = await releaseLeases(remainingLeases);
    } catch (error) {
      log.error({ err: error, leases: remainingLeases.length }, "leases could not be released");
    }
    const nextAt = afterMs(clock, backoffMs(tries, backoff));
    const unexpiredLeases = remainingLeases.filter(({ leaseUntil }) => nextAt < leaseUntil);
    const expiredCount = remainingLeases.length - unexpiredLeases.length;
    if (expiredCount > 0)
      log.error({ leases: expiredCount }, "leases not released in time, letting them expire");
    remainingLeases = unexpiredLeases;
    if (remainingLeases.length > 0) await clock.sleepUntil(nextAt);
  }
};
