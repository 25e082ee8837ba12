import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, afterMs, startLoop } from "@payment-links/runtime";
import {
  type Leadership,
  type WatchReport,
  readLeaseUntil,
  releaseLeadership,
  renewLeadership,
  acquireLeadership,
} from "../store/watchers.ts";

/**
 * A process's candidacy for the leadership of a chain, with the lease while the process is the
 * leader.
 */
export type Lease = {
  /**
   * Returns the leadership while its lease is valid. It can be lost at any time, so every write
   * must check it.
   */
  getLeadership(): Leadership | undefined;
  /** Records that a write was rejected because another process leads now. */
  markLost(lostLeadership: Leadership): void;
  /** Gives up the leadership and the candidacy. */
  stop(): Promise<void>;
};

/**
 * The number of chains that this process leads, and its share (`quota`). A process waits longer
 * before it takes a free chain for each full share that it already leads. The first replica of a
 * rollout therefore does not take every chain, but a chain that no other replica takes still gets a
 * leader.
 */
export type LeadershipQuota = { ledChainCount: number; readonly quota: number };

export const createLeadershipQuota = (quota: number): LeadershipQuota => ({
  ledChainCount: 0,
  quota,
});

/** Returns for how many milliseconds a chain must have been free before this process takes it. */
const getAcquireDelayMs = ({ ledChainCount, quota }: LeadershipQuota): number =>
  Math.floor(ledChainCount / quota) * 5_000;

const leaseMs = 12_000;
const renewEveryMs = 3_000;

/**
 * The time after which a lease that is not renewed counts as abandoned. Its expiry can still be in
 * the future then, if the leader's clock was ahead.
 */
const abandonedAfterMs = 2 * leaseMs;

/**
 * Returns a function that reports whether another process still renews its lease. It measures the
 * clock's elapsed time since the expiry last changed.
 */
const trackRenewals = (clock: Clock): ((until: Date) => boolean) => {
  let lastSeen: { until: Date; atMs: number } | undefined;
  return (until) => {
    if (lastSeen?.until.getTime() !== until.getTime())
      lastSeen = { until, atMs: clock.elapsedMs() };
    return clock.elapsedMs() - lastSeen.atMs < abandonedAfterMs;
  };
};

/**
 * Competes for the leadership of a chain until it is stopped. The lease uses the service's clock,
 * which tests can control. Every write checks the fencing token, so if clocks differ, the leader
 * only changes too late or without need.
 */
export const startLease = (options: {
  chainId: string;
  pool: Pool;
  clock: Clock;
  log: Log;
  quota: LeadershipQuota;
  /** The status that the leader stores with each renewal. */
  report: () => WatchReport;
  onChange: (isLeader: boolean) => void;
}): Lease => {
  const { chainId, clock, log, onChange, pool, report, quota } = options;
  let heldLease: { leadership: Leadership; until: Date } | undefined;
  let freeSince: Date | undefined;
  const isBeingRenewed = trackRenewals(clock);

  const markLost = (lostLeadership: Leadership) => {
    if (heldLease?.leadership.token !== lostLeadership.token) return;
    heldLease = undefined;
    quota.ledChainCount -= 1;
    log.warn({ chain: chainId }, "another process now watches this chain");
    onChange(false);
  };

  const loop = startLoop({
    name: `lease of chain ${chainId}`,
    clock,
    log,
    waitMs: renewEveryMs,
    backoffMsMax: renewEveryMs,
    run: async () => {
      const now = clock.now();
      const until = afterMs(clock, leaseMs);
      if (heldLease !== undefined) {
        const { leadership } = heldLease;
        if (await renewLeadership(pool, leadership, { until, report: report() }))
          heldLease = { leadership, until };
        else markLost(leadership);
        return;
      }
      const leaseUntil = await readLeaseUntil(pool, chainId);
      const isHeldElsewhere = leaseUntil !== null && leaseUntil > now && isBeingRenewed(leaseUntil);
      freeSince = isHeldElsewhere ? undefined : (freeSince ?? now);
      if (freeSince === undefined) return;
      // The quota is checked last, because the loops of other chains may have taken chains in the
      // meantime.
      if (now.getTime() - freeSince.getTime() < getAcquireDelayMs(quota)) return;
      const acquireOptions = { chainId, now, until, ...(leaseUntil && { left: leaseUntil }) };
      const leadership = await countWhileAcquiring(quota, () =>
        acquireLeadership(pool, acquireOptions),
      );
      if (leadership === undefined) return;
      freeSince = undefined;
      heldLease = { leadership, until };
      log.info({ chain: chainId, fence: leadership.token }, "this process now watches the chain");
      onChange(true);
    },
  });

  return {
    getLeadership: () =>
      heldLease !== undefined && heldLease.until > clock.now() ? heldLease.leadership : undefined,
    markLost,
    stop: async () => {
      await loop.stop();
      if (heldLease === undefined) return;
      const { leadership } = heldLease;
      heldLease = undefined;
      quota.ledChainCount -= 1;
      try {
        await releaseLeadership(pool, leadership, clock.now());
      } catch (error) {
        // The lease expires on its own.
        log.warn({ err: error, chain: chainId }, "chain leadership could not be released");
      }
    },
  };
};

/**
 * Counts the chain as led while it is being acquired, because the loops of all chains compete at
 * the same time.
 */
const countWhileAcquiring = async (
  quota: LeadershipQuota,
  acquire: () => Promise<Leadership | undefined>,
): Promise<Leadership | undefined> => {
  quota.ledChainCount += 1;
  let leadership: Leadership | undefined;
  try {
    leadership = await acquire();
  } finally {
    if (leadership === undefined) quota.ledChainCount -= 1;
  }
  return leadership;
};
