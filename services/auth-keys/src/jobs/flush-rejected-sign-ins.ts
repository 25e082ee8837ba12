import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { findClaimedAccountIds, saveRejectedSignIns } from "../store/rejected-sign-ins.ts";

/**
 * Writes rejected sign-ins to the audit logs of the accounts that they claimed. This happens after
 * the response, because otherwise the response time would reveal whether an account exists.
 * Attempts that cannot be written are kept for the next run.
 */
export const flushRejectedSignIns = ({
  pool,
  rejectedSignIns,
  wakeRelay,
}: Pick<Dependencies, "pool" | "rejectedSignIns" | "wakeRelay">): BackgroundJob => ({
  name: "refused sign-ins",
  waitMs: 1_000,
  run: async () => {
    const remainingAttempts = rejectedSignIns.drain();
    try {
      for (
        let nextAttempts = remainingAttempts[0];
        nextAttempts !== undefined;
        nextAttempts = remainingAttempts[0]
      ) {
        const { claimedAccount, ...attempts } = nextAttempts;
        for (const accountId of await findClaimedAccountIds(pool, claimedAccount)) {
          await saveRejectedSignIns(pool, accountId, attempts);
          wakeRelay();
        }
        remainingAttempts.shift();
      }
    } finally {
      rejectedSignIns.restore(remainingAttempts);
    }
  },
});
