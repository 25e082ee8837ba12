import type { Dependencies } from "../dependencies.ts";
import { findClaimedAccountIds, saveRejectedSignIns } from "../store/rejected-sign-ins.ts";

/**
 * Writes down the sign-ins that were refused, in the audit log of the account to which each would have
 * led. Not while they are refused: how long that takes would tell whether there is an account. What
 * cannot be written stays noted for the next time.
 */
export const flushRejectedSignIns = async ({
  pool,
  rejectedSignIns,
  wakeRelay,
}: Pick<Dependencies, "pool" | "rejectedSignIns" | "wakeRelay">): Promise<void> => {
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
};
