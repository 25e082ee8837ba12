import * as z from "zod";
import { sql } from "slonik";
import { type NotificationKind, notificationKinds } from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";

const TokenRow = z.object({ accountId: z.string(), kinds: z.array(z.enum(notificationKinds)) });
/** What an unsubscribe link refers to: an account, and the kinds that it switches off. */
export type UnsubscribeToken = z.output<typeof TokenRow>;
const { columns } = defineTable(TokenRow);

type NewToken = {
  hash: Buffer;
  accountId: string;
  kinds: readonly NotificationKind[];
  /** The recipient of the email with the link. */
  address: string;
  expiresAt: Date;
};

/**
 * Stores the hash of a token if the address is still the account's, and returns whether it is. Locks
 * the settings, so that a change of the address deletes this token too.
 */
export const insertUnsubscribeToken = async (
  db: Db,
  { hash, accountId, kinds, address, expiresAt }: NewToken,
): Promise<boolean> => {
  const { rowCount } = await db.query(sqlVoid`
    INSERT INTO unsubscribe_tokens (hash, account_id, kinds, expires_at)
    SELECT ${sql.binary(hash)}, account_id, ${sql.array([...kinds], "text")},
      ${sql.timestamp(expiresAt)}
    FROM notification_settings WHERE account_id = ${accountId} AND address = ${address}
    FOR SHARE
  `);
  return rowCount > 0;
};

/** Returns what a valid token refers to. Does not consume it: mail programs can repeat a request. */
export const findUnsubscribeToken = async (
  db: Db,
  { hash, now }: { hash: Buffer; now: Date },
): Promise<UnsubscribeToken | undefined> =>
  (await db.maybeOne(sql.type(TokenRow)`
    SELECT ${columns} FROM unsubscribe_tokens
    WHERE hash = ${sql.binary(hash)} AND expires_at > ${sql.timestamp(now)}
  `)) ?? undefined;

/** Deletes all tokens of an account, because the address that got them changes. */
export const deleteUnsubscribeTokensOfAccount = async (
  tx: Transaction,
  accountId: string,
): Promise<void> => {
  await tx.query(sqlVoid`DELETE FROM unsubscribe_tokens WHERE account_id = ${accountId}`);
};

/** Deletes up to `rowsMax` expired tokens. Returns how many. */
export const deleteExpiredUnsubscribeTokens = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM unsubscribe_tokens WHERE hash IN (
      SELECT hash FROM unsubscribe_tokens WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
