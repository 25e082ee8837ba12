import * as z from "zod";
import { sql } from "slonik";
import { type Db, sqlVoid } from "@payment-links/postgres";

const AttemptRow = z.object({
  linkingSessionId: z.string().nullable(),
  presenceSessionId: z.string().nullable(),
});

type SignInAttempt = { hash: Buffer; browserHash: Buffer; method: "siwe" | "oidc" | "passkey" };

/**
 * Stores a sign-in that a browser began, by the hashes of its nonce or state and of the browser.
 */
export const insertSignInAttempt = async (
  db: Db,
  {
    hash,
    browserHash,
    method,
    linkingSessionId,
    presenceSessionId,
    expiresAt,
  }: SignInAttempt & { linkingSessionId?: string; presenceSessionId?: string; expiresAt: Date },
): Promise<void> => {
  await db.query(sqlVoid`
    INSERT INTO sign_in_attempts (
      hash, browser_hash, method, linking_session_id, presence_session_id, expires_at
    ) VALUES (
      ${sql.binary(hash)}, ${sql.binary(browserHash)}, ${method}, ${linkingSessionId ?? null},
      ${presenceSessionId ?? null}, ${sql.timestamp(expiresAt)}
    )
  `);
};

/**
 * Uses up an attempt of this browser. Answers for which session it links an identity or proves
 * presence, if it does either.
 * Undefined if there is no such attempt, or no longer; only one of several calls at once gets it.
 * Another browser's attempt stays good.
 */
export const consumeSignInAttempt = async (
  db: Db,
  { hash, browserHash, method, now }: SignInAttempt & { now: Date },
): Promise<z.output<typeof AttemptRow> | undefined> =>
  (await db.maybeOne(sql.type(AttemptRow)`
    DELETE FROM sign_in_attempts
    WHERE hash = ${sql.binary(hash)} AND browser_hash = ${sql.binary(browserHash)}
      AND method = ${method} AND expires_at > ${sql.timestamp(now)}
    RETURNING linking_session_id AS "linkingSessionId",
      presence_session_id AS "presenceSessionId"
  `)) ?? undefined;

/** Deletes at most so many attempts that did not end in time; answers how many. */
export const deleteExpiredSignInAttempts = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM sign_in_attempts WHERE hash IN (
      SELECT hash FROM sign_in_attempts WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
