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

/** Standing for the lead of a chain, and holding it. */
export type Lease = {
  /** The lead, while it is held and not overdue. It may be lost at any time: writes check it. */
  getLeadership(): Leadership | undefined;
  /** Says that a write found another leader. */
  markLost(lostLeadership: Leadership): void;
  /** Gives the lead up and stands no more. */
  stop(): Promise<void>;
};

/**
 * How many chains a process leads, and how many are its share. One that leads its share lets a chain
 * that is free wait for others first, the longer the more it leads: the first replica of a rollout
 * does not get all of them, and what nobody else wants is led all the same.
 */
export type LeadershipQuota = { ledChainCount: number; readonly quota: number };

/** Nobody is led yet. */
export const createLeadershipQuota = (quota: number): LeadershipQuota => ({
  ledChainCount: 0,
  quota,
});

/** For how long a chain must have been free before a process takes it. */
const getAcquireDelayMs = ({ ledChainCount, quota }: LeadershipQuota): number =>
  Math.floor(ledChainCount / quota) * 5_000;

const leaseMs = 12_000;
const renewEveryMs = 3_000;

/** A lease that its leader has not renewed for so long is left, however far ahead its clock was. */
const abandonedAfterMs = 2 * leaseMs;

/** Whether the lease of another still changes, by the clock's elapsed time. */
const trackRenewals = (clock: Clock): ((until: Date) => boolean) => {
  let lastSeen: { until: Date; atMs: number } | undefined;
  return (until) => {
    if (lastSeen?.until.getTime() !== until.getTime())
      lastSeen = { until, atMs: clock.elapsedMs() };
    return clock.elapsedMs() - lastSeen.atMs < abandonedAfterMs;
  };
};

/**
 * Stands for the lead of a chain until it is stopped. The lease goes by the service's own clock,
 * which a test can hold. Every write checks the lead's fencing token, so that clocks which differ
 * cost a late or needless change of leaders and nothing else.
 */
export const startLease = (options: {
  chainId: string;
  pool: Pool;
  clock: Clock;
  log: Log;
  quota: LeadershipQuota;
  /** What the leader says of its chain at each renewal. */
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
    log.warn({ chain: chainId }, "another process watches this chain by now");
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
      // Judged only now: the loops of other chains may have taken some meanwhile.
      if (now.getTime() - freeSince.getTime() < getAcquireDelayMs(quota)) return;
      const acquireOptions = { chainId, now, until, ...(leaseUntil && { left: leaseUntil }) };
      const leadership = await countWhileAcquiring(quota, () =>
        acquireLeadership(pool, acquireOptions),
      );
      if (leadership === undefined) return;
      freeSince = undefined;
      heldLease = { leadership, until };
      log.info({ chain: chainId, fence: leadership.token }, "this process watches the chain");
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
        // The lease runs out by itself.
        log.warn({ err: error, chain: chainId }, "a chain's lead could not be given up");
      }
    },
  };
};

/** A lead is counted before it is taken, as the loops of all chains stand at once. */
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
