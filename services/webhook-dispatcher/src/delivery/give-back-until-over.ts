import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";

type GiveBackOptions<Lease> = {
  /**
   * Gives leases back in one transaction. Answers those that it could not give back now, as somebody
   * else's transaction holds them.
   */
  giveBack: (leases: readonly Lease[]) => Promise<readonly Lease[]>;
  clock: Clock;
  log: Log;
};

/** A try costs one statement, and nobody waits for it but an orderly stop. */
const backoff = { firstMs: 100, mostMs: 2_000 };

/**
 * Gives leases back whose attempts were never begun. What somebody else holds, and all while the database
 * is away, is tried again until its lease is over: then it lapses, and counts as an attempt.
 */
export const giveBackUntilOver = async <Lease extends { leaseUntil: Date }>(
  { giveBack, clock, log }: GiveBackOptions<Lease>,
  leases: readonly Lease[],
): Promise<void> => {
  let left = leases;
  for (let tries = 1; left.length > 0; tries += 1) {
    try {
      left = await giveBack(left);
    } catch (error) {
      log.error({ err: error, leases: left.length }, "leases could not be given back");
    }
    const nextAt = afterMs(clock, backoffMs(tries, backoff));
    const worth = left.filter(({ leaseUntil }) => nextAt < leaseUntil);
    const lost = left.length - worth.length;
    if (lost > 0) log.error({ leases: lost }, "leases were not given back in time; they lapse");
    left = worth;
    if (left.length > 0) await clock.until(nextAt, neverAborted);
  }
};

const neverAborted = new AbortController().signal;
