import type { Deps } from "../deps.ts";
import { deleteEndedSessions } from "../store/sessions.ts";
import { deleteEndedSignInAttempts } from "../store/sign-in-attempts.ts";
import { deleteEndedSignInTokens } from "../store/sign-in-tokens.ts";

/** Rows that one statement deletes at most, so that it holds few locks and ends soon. */
export const sweepRowsMax = 500;

/** Deletes sessions and unused ways into one past their end; answers whether there may be more. */
export const sweepEnded = async ({
  pool,
  clock,
}: Pick<Deps, "pool" | "clock">): Promise<boolean> => {
  const batch = { now: clock.now(), rowsMax: sweepRowsMax };
  const sessionCount = await deleteEndedSessions(pool, batch);
  const tokenCount = await deleteEndedSignInTokens(pool, batch);
  const attemptCount = await deleteEndedSignInAttempts(pool, batch);
  return Math.max(sessionCount, tokenCount, attemptCount) === sweepRowsMax;
};
