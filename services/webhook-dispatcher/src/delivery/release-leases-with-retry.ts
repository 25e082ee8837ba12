import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";

type ReleaseOptions<Lease> = {
  /**
   * Gives leases back in one transaction. Answers those that it could not give back now, as somebody
   * else's transaction holds them.
   */
  releaseLeases: (leases: readonly Lease[]) => Promise<readonly Lease[]>;
  clock: Clock;
  log: Log;
};

/** A try costs one statement, and nobody waits for it but an orderly stop. */
const backoff = { initialMs: 100, maxMs: 2_000 };

/**
 * Gives leases back whose attempts were never begun. What somebody else holds, and all while the database
 * is away, is tried again until its lease is over: then it lapses, and counts as an attempt.
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
      log.error({ err: error, leases: remainingLeases.length }, "leases could not be given back");
    }
    const nextAt = afterMs(clock, backoffMs(tries, backoff));
    const unexpiredLeases = remainingLeases.filter(({ leaseUntil }) => nextAt < leaseUntil);
    const expiredCount = remainingLeases.length - unexpiredLeases.length;
    if (expiredCount > 0)
      log.error({ leases: expiredCount }, "leases were not given back in time; they lapse");
    remainingLeases = unexpiredLeases;
    if (remainingLeases.length > 0) await clock.sleepUntil(nextAt, neverAbortedSignal);
  }
};

const neverAbortedSignal = new AbortController().signal;
