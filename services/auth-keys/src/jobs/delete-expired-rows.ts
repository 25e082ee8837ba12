import type { Dependencies } from "../dependencies.ts";
import { deleteExpiredSessions } from "../store/sessions.ts";
import { deleteExpiredSignInAttempts } from "../store/sign-in-attempts.ts";
import { deleteExpiredSignInTokens } from "../store/sign-in-tokens.ts";

/** Rows that one statement deletes at most, so that it holds few locks and ends soon. */
export const deleteBatchMax = 500;

/** Deletes sessions and unused ways into one past their end; answers whether there may be more. */
export const deleteExpiredRows = async ({
  pool,
  clock,
}: Pick<Dependencies, "pool" | "clock">): Promise<boolean> => {
  const batch = { now: clock.now(), rowsMax: deleteBatchMax };
  const sessionCount = await deleteExpiredSessions(pool, batch);
  const tokenCount = await deleteExpiredSignInTokens(pool, batch);
  const attemptCount = await deleteExpiredSignInAttempts(pool, batch);
  return Math.max(sessionCount, tokenCount, attemptCount) === deleteBatchMax;
};
