import type { Deps } from "../deps.ts";
import { findClaimed, keepRefusals } from "../store/refusals.ts";

/**
 * Writes down the sign-ins that were refused, in the audit log of the account to which each would have
 * led. Not while they are refused: how long that takes would tell whether there is an account. What
 * cannot be written stays noted for the next time.
 */
export const tellRefusals = async ({
  pool,
  refusals,
  wakeRelay,
}: Pick<Deps, "pool" | "refusals" | "wakeRelay">): Promise<void> => {
  const left = refusals.take();
  try {
    for (let noted = left[0]; noted !== undefined; noted = left[0]) {
      const { claim, ...attempts } = noted;
      for (const accountId of await findClaimed(pool, claim)) {
        await keepRefusals(pool, accountId, attempts);
        wakeRelay();
      }
      left.shift();
    }
  } finally {
    refusals.putBack(left);
  }
};
