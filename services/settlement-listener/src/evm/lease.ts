import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, afterMs, startLoop } from "@payment-links/runtime";
import {
  type Lead,
  type WatchReport,
  renewLead,
  releaseLead,
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

const leaseMs = 12_000;
const renewEveryMs = 3_000;

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
  /** What the leader says of its chain at each renewal. */
  report: () => WatchReport;
  onChange: (isLeader: boolean) => void;
}): Lease => {
  const { chainId, clock, log, onChange, pool, report } = options;
  let held: { lead: Lead; until: Date } | undefined;

  const lose = (lost: Lead) => {
    if (held?.lead.token !== lost.token) return;
    held = undefined;
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
      const lead = await takeLead(pool, { chainId, now, until });
      if (lead === undefined) return;
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
      try {
        await releaseLead(pool, lead, clock.now());
      } catch (error) {
        // The lease runs out by itself.
        log.warn({ err: error, chain: chainId }, "a chain's lead could not be given up");
      }
    },
  };
};
