import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

const OwnerRow = z.object({ accountId: z.string() });

/** Stores only the hash of a one-time sign-in token. */
export const insertSignInToken = async (
  tx: Transaction,
  { hash, accountId, expiresAt }: { hash: Buffer; accountId: string; expiresAt: Date },
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO sign_in_tokens (hash, account_id, expires_at)
    VALUES (${sql.binary(hash)}, ${accountId}, ${sql.timestamp(expiresAt)})
  `);
};

/** Whose account a token signs in to, which uses nothing up. */
export const findSignInTokenOwner = async (
  db: Db,
  { hash, now }: { hash: Buffer; now: Date },
): Promise<string | undefined> =>
  (await db.maybeOneFirst(sql.type(OwnerRow)`
    SELECT account_id AS "accountId" FROM sign_in_tokens
    WHERE hash = ${sql.binary(hash)} AND expires_at > ${sql.timestamp(now)}
  `)) ?? undefined;

/** Uses up all tokens of an account; answers how many. */
export const deleteSignInTokensOfAccount = async (
  tx: Transaction,
  accountId: string,
): Promise<number> => {
  const { rowCount } = await tx.query(sqlVoid`
    DELETE FROM sign_in_tokens WHERE account_id = ${accountId}
  `);
  return rowCount;
};

/** Uses up a token and answers whose it was. Only one of several calls at once gets an answer. */
export const redeemSignInToken = async (
  tx: Transaction,
  { hash, now }: { hash: Buffer; now: Date },
): Promise<string | undefined> =>
  (await tx.maybeOneFirst(sql.type(OwnerRow)`
    DELETE FROM sign_in_tokens
    WHERE hash = ${sql.binary(hash)} AND expires_at > ${sql.timestamp(now)}
    RETURNING account_id AS "accountId"
  `)) ?? undefined;

/** Deletes at most so many tokens that nobody used in time; answers how many. */
export const deleteExpiredSignInTokens = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM sign_in_tokens WHERE hash IN (
      SELECT hash FROM sign_in_tokens WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
