import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, afterMs, startLoop } from "@payment-links/runtime";
import {
  type Lead,
  type WatchReport,
  readLeaseUntil,
  releaseLead,
  renewLead,
  takeLead,
} from "../store/watchers.ts";

/** Standing for the lead of a chain, and holding it. */
export type Lease = {
  /** The lead, while it is held and not overdue. It may be lost at any time: writes check it. */
  lead(): Lead | undefined;
  /** Says that a write found another leader. */
  lose(lost: Lead): void;
  /** Gives the lead up and stands no more. */
  stop(): Promise<void>;
};

/**
 * How many chains a process leads, and how many are its share. One that leads its share lets a chain
 * that is free wait for others first, the longer the more it leads: the first replica of a rollout
 * does not get all of them, and what nobody else wants is led all the same.
 */
export type Share = { ledCount: number; readonly size: number };

/** Nobody is led yet. */
export const createShare = (size: number): Share => ({ ledCount: 0, size });

/** For how long a chain must have been free before a process takes it. */
const patienceMs = ({ ledCount, size }: Share): number => Math.floor(ledCount / size) * 5_000;

const leaseMs = 12_000;
const renewEveryMs = 3_000;

/** A lease that its leader has not renewed for so long is left, however far ahead its clock was. */
const leftMs = 2 * leaseMs;

/** Whether the lease of another still changes, by the clock's elapsed time. */
const watchRenewals = (clock: Clock): ((until: Date) => boolean) => {
  let seen: { until: Date; atMs: number } | undefined;
  return (until) => {
    if (seen?.until.getTime() !== until.getTime()) seen = { until, atMs: clock.elapsedMs() };
    return clock.elapsedMs() - seen.atMs < leftMs;
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
  share: Share;
  /** What the leader says of its chain at each renewal. */
  report: () => WatchReport;
  onChange: (isLeader: boolean) => void;
}): Lease => {
  const { chainId, clock, log, onChange, pool, report, share } = options;
  let held: { lead: Lead; until: Date } | undefined;
  let freeSince: Date | undefined;
  const isRenewed = watchRenewals(clock);

  const lose = (lost: Lead) => {
    if (held?.lead.token !== lost.token) return;
    held = undefined;
    share.ledCount -= 1;
    log.warn({ chain: chainId }, "another process watches this chain by now");
    onChange(false);
  };

  const loop = startLoop({
    name: `lease of chain ${chainId}`,
    clock,
    log,
    waitMs: renewEveryMs,
    failedWaitMsMax: renewEveryMs,
    run: async () => {
      const now = clock.now();
      const until = afterMs(clock, leaseMs);
      if (held !== undefined) {
        const { lead } = held;
        if (await renewLead(pool, lead, { until, report: report() })) held = { lead, until };
        else lose(lead);
        return;
      }
      const left = await readLeaseUntil(pool, chainId);
      const isLed = left !== null && left > now && isRenewed(left);
      freeSince = isLed ? undefined : (freeSince ?? now);
      if (freeSince === undefined) return;
      // Judged only now: the loops of other chains may have taken some meanwhile.
      if (now.getTime() - freeSince.getTime() < patienceMs(share)) return;
      const wanted = { chainId, now, until, ...(left && { left }) };
      const lead = await counted(share, () => takeLead(pool, wanted));
      if (lead === undefined) return;
      freeSince = undefined;
      held = { lead, until };
      log.info({ chain: chainId, fence: lead.token }, "this process watches the chain");
      onChange(true);
    },
  });

  return {
    lead: () => (held !== undefined && held.until > clock.now() ? held.lead : undefined),
    lose,
    stop: async () => {
      await loop.stop();
      if (held === undefined) return;
      const { lead } = held;
      held = undefined;
      share.ledCount -= 1;
      try {
        await releaseLead(pool, lead, clock.now());
      } catch (error) {
        // The lease runs out by itself.
        log.warn({ err: error, chain: chainId }, "a chain's lead could not be given up");
      }
    },
  };
};

/** A lead is counted before it is taken, as the loops of all chains stand at once. */
const counted = async (
  share: Share,
  take: () => Promise<Lead | undefined>,
): Promise<Lead | undefined> => {
  share.ledCount += 1;
  let lead: Lead | undefined;
  try {
    lead = await take();
  } finally {
    if (lead === undefined) share.ledCount -= 1;
  }
  return lead;
};
