import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { deleteExpiredCommandSignIns } from "../store/command-sign-ins.ts";
import { deleteOldEmails } from "../store/emails.ts";
import { deleteExpiredSessions } from "../store/sessions.ts";
import { deleteExpiredSignInAttempts } from "../store/sign-in-attempts.ts";
import { deleteExpiredSignInTokens } from "../store/sign-in-tokens.ts";
import { deleteExpiredUnsubscribeTokens } from "../store/unsubscribe-tokens.ts";

/** The maximum number of rows per statement, so that it holds few locks and finishes quickly. */
export const deleteBatchMax = 500;

/** Deletes expired sessions, tokens and sign-in attempts, and old emails. */
export const deleteExpiredRows = ({
  pool,
  clock,
}: Pick<Dependencies, "pool" | "clock">): BackgroundJob => ({
  name: "ended sessions",
  waitMs: 60_000,
  run: async () => {
    const batch = { now: clock.now(), rowsMax: deleteBatchMax };
    const sessionCount = await deleteExpiredSessions(pool, batch);
    const tokenCount = await deleteExpiredSignInTokens(pool, batch);
    const attemptCount = await deleteExpiredSignInAttempts(pool, batch);
    const emailCount = await deleteOldEmails(pool, batch);
    const unsubscribeCount = await deleteExpiredUnsubscribeTokens(pool, batch);
    const commandCount = await deleteExpiredCommandSignIns(pool, batch);
    const counts = [
      sessionCount,
      tokenCount,
      attemptCount,
      emailCount,
      unsubscribeCount,
      commandCount,
    ];
    return Math.max(...counts) === deleteBatchMax;
  },
});
