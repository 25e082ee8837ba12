import * as z from "zod";
import { sql } from "slonik";
import { type Db, sqlVoid } from "@payment-links/postgres";

const AttemptRow = z.object({
  linkingSessionId: z.string().nullable(),
  presenceSessionId: z.string().nullable(),
});

type SignInAttempt = { hash: Buffer; browserHash: Buffer; method: "siwe" | "oidc" | "passkey" };

/**
 * Inserts a sign-in attempt of a browser, identified by the hashes of its nonce or state and of the
 * browser's secret.
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
 * Consumes an attempt of this browser. Returns the session for which it links an identity or proves
 * presence, if there is one. Returns undefined if the attempt does not exist, has expired or was
 * already consumed. Only one of several concurrent calls succeeds. Another browser cannot consume
 * the attempt, so it stays valid.
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

/** Deletes up to `rowsMax` expired attempts. Returns how many. */
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
