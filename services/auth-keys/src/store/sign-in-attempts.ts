import * as z from "zod";
import { sql } from "slonik";
import { type Db, nothing } from "@payment-links/postgres";

const AttemptRow = z.object({ linkingSessionId: z.string().nullable() });

type Attempt = { hash: Buffer; browserHash: Buffer; method: "siwe" | "oidc" };

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
    expiresAt,
  }: Attempt & { linkingSessionId?: string; expiresAt: Date },
): Promise<void> => {
  await db.query(nothing`
    INSERT INTO sign_in_attempts (hash, browser_hash, method, linking_session_id, expires_at)
    VALUES (
      ${sql.binary(hash)}, ${sql.binary(browserHash)}, ${method}, ${linkingSessionId ?? null},
      ${sql.timestamp(expiresAt)}
    )
  `);
};

/**
 * Uses up an attempt of this browser. Answers for which session it links an identity, if it does.
 * Undefined if there is no such attempt, or no longer; only one of several calls at once gets it.
 * Another browser's attempt stays good.
 */
export const spendSignInAttempt = async (
  db: Db,
  { hash, browserHash, method, now }: Attempt & { now: Date },
): Promise<{ linkingSessionId: string | null } | undefined> =>
  (await db.maybeOne(sql.type(AttemptRow)`
    DELETE FROM sign_in_attempts
    WHERE hash = ${sql.binary(hash)} AND browser_hash = ${sql.binary(browserHash)}
      AND method = ${method} AND expires_at > ${sql.timestamp(now)}
    RETURNING linking_session_id AS "linkingSessionId"
  `)) ?? undefined;

/** Deletes at most so many attempts that did not end in time; answers how many. */
export const deleteEndedSignInAttempts = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(nothing`
    DELETE FROM sign_in_attempts WHERE hash IN (
      SELECT hash FROM sign_in_attempts WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
