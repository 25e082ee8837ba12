import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

const OwnerRow = z.object({ accountId: z.string() });

/** Inserts a sign-in token with only its hash. */
export const insertSignInToken = async (
  tx: Transaction,
  { hash, accountId, expiresAt }: { hash: Buffer; accountId: string; expiresAt: Date },
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO sign_in_tokens (hash, account_id, expires_at)
    VALUES (${sql.binary(hash)}, ${accountId}, ${sql.timestamp(expiresAt)})
  `);
};

/** Returns the account of a valid token without consuming it. */
export const findSignInTokenOwner = async (
  db: Db,
  { hash, now }: { hash: Buffer; now: Date },
): Promise<string | undefined> =>
  (await db.maybeOneFirst(sql.type(OwnerRow)`
    SELECT account_id AS "accountId" FROM sign_in_tokens
    WHERE hash = ${sql.binary(hash)} AND expires_at > ${sql.timestamp(now)}
  `)) ?? undefined;

/** Deletes all tokens of an account. Returns how many. */
export const deleteSignInTokensOfAccount = async (
  tx: Transaction,
  accountId: string,
): Promise<number> => {
  const { rowCount } = await tx.query(sqlVoid`
    DELETE FROM sign_in_tokens WHERE account_id = ${accountId}
  `);
  return rowCount;
};

/** Consumes a token and returns its account. Only one of several concurrent calls succeeds. */
export const redeemSignInToken = async (
  tx: Transaction,
  { hash, now }: { hash: Buffer; now: Date },
): Promise<string | undefined> =>
  (await tx.maybeOneFirst(sql.type(OwnerRow)`
    DELETE FROM sign_in_tokens
    WHERE hash = ${sql.binary(hash)} AND expires_at > ${sql.timestamp(now)}
    RETURNING account_id AS "accountId"
  `)) ?? undefined;

/** Deletes up to `rowsMax` expired tokens. Returns how many. */
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
