import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import type { Passkey } from "../domain/passkey.ts";
import type { ActiveIssuers } from "../domain/identity.ts";
import { isActiveIssuer } from "./identities.ts";

const bytes = z.custom<Buffer>((value) => Buffer.isBuffer(value));
const PasskeyRow = z.object({
  id: z.string(),
  accountId: z.string(),
  credentialId: bytes,
  publicKey: bytes,
  counter: z.coerce.number(),
  name: z.string(),
  dateCreated: z.date(),
  lastUsedAt: z.date().nullable(),
});
const OwnerRow = z.object({ accountId: z.string() });
const IdRow = z.object({ id: z.string() });
const CountRow = z.object({ count: z.int() });

const { columns } = defineTable(PasskeyRow);

/** Finds a passkey by the credential id that its authenticator assigned. */
export const findPasskey = async (db: Db, credentialId: Buffer): Promise<Passkey | undefined> =>
  (await db.maybeOne(sql.type(PasskeyRow)`
    SELECT ${columns} FROM passkeys WHERE credential_id = ${sql.binary(credentialId)}
  `)) ?? undefined;

/** Lists the passkeys of an account, oldest first. */
export const listPasskeys = (db: Db, accountId: string): Promise<readonly Passkey[]> =>
  db.any(sql.type(PasskeyRow)`
    SELECT ${columns} FROM passkeys WHERE account_id = ${accountId} ORDER BY date_created, id
  `);

/**
 * Inserts a passkey. The account's row must be locked. Returns false if the credential id already
 * exists.
 */
export const insertPasskey = async (tx: Transaction, passkey: Passkey): Promise<boolean> => {
  const { id, accountId, credentialId, publicKey, counter, name, dateCreated } = passkey;
  const { rowCount } = await tx.query(sqlVoid`
    INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, name, date_created)
    VALUES (
      ${id}, ${accountId}, ${sql.binary(credentialId)}, ${sql.binary(publicKey)}, ${counter},
      ${name}, ${sql.timestamp(dateCreated)}
    )
    ON CONFLICT (credential_id) DO NOTHING
  `);
  return rowCount > 0;
};

/**
 * Updates a passkey's counter and last use, which locks the passkey, and returns its account.
 * Checks the counter again, because another response may have raised it in the meantime. Returns
 * undefined if the counter is not above the stored one or the passkey no longer exists.
 */
export const updatePasskeyCounter = async (
  tx: Transaction,
  { id, counter, now }: { id: string; counter: number; now: Date },
): Promise<string | undefined> =>
  (await tx.maybeOneFirst(sql.type(OwnerRow)`
    UPDATE passkeys SET counter = ${counter}, last_used_at = ${sql.timestamp(now)}
    WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))
    RETURNING account_id AS "accountId"
  `)) ?? undefined;

/** Renames a passkey of the account. Returns it, or undefined if there is none. */
export const renamePasskey = async (
  tx: Transaction,
  { id, accountId, name }: { id: string; accountId: string; name: string },
): Promise<Passkey | undefined> =>
  (await tx.maybeOne(sql.type(PasskeyRow)`
    UPDATE passkeys SET name = ${name} WHERE id = ${id} AND account_id = ${accountId}
    RETURNING ${columns}
  `)) ?? undefined;

/** Deletes a passkey of the account. Returns whether it existed. */
export const deletePasskey = async (
  tx: Transaction,
  { id, accountId }: { id: string; accountId: string },
): Promise<boolean> => {
  const { rowCount } = await tx.query(sqlVoid`
    DELETE FROM passkeys WHERE id = ${id} AND account_id = ${accountId}
  `);
  return rowCount > 0;
};

/** Deletes every passkey of an account. Returns their ids. */
export const deletePasskeysOfAccount = (
  tx: Transaction,
  accountId: string,
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(IdRow)`
    DELETE FROM passkeys WHERE account_id = ${accountId} RETURNING id
  `);

type MethodQuery = {
  accountId: string;
  enabledMethods: readonly string[];
  activeIssuers: ActiveIssuers;
};

/**
 * Counts the enabled sign-in methods that the account has itself. Sign-in links from operators do
 * not count.
 */
export const countSignInMethods = (
  tx: Transaction,
  { accountId, enabledMethods, activeIssuers }: MethodQuery,
): Promise<number> =>
  tx.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM (
      SELECT method, issuer FROM identities WHERE account_id = ${accountId}
      UNION ALL
      SELECT 'passkey', NULL FROM passkeys WHERE account_id = ${accountId}
    ) AS way
    WHERE method = ANY (${sql.array([...enabledMethods], "text")})
      AND ${isActiveIssuer(sql.fragment`way`, activeIssuers)}
  `);
