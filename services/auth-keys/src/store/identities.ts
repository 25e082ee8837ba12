import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import type { Identity, ActiveIssuers, ProvenIdentity } from "../domain/identity.ts";

const IdentityRow = z.object({
  id: z.string(),
  accountId: z.string(),
  method: z.enum(["siwe", "oidc"]),
  issuer: z.string(),
  subject: z.string(),
  dateCreated: z.date(),
});

const { columns } = defineTable(IdentityRow);

/**
 * Matches identities that can sign in here: Ethereum keys, identities of the current provider, and
 * contracts whose chain has an RPC provider. Trailing slashes are ignored, because discovery
 * accepts a configured issuer that differs from the provider's only by a slash.
 */
export const isActiveIssuer = (
  row: FragmentSqlToken,
  { contractIssuers, oidcIssuer }: ActiveIssuers,
): FragmentSqlToken => sql.fragment`
  (${row}.method <> 'oidc' OR rtrim(${row}.issuer, '/') = rtrim(${oidcIssuer ?? null}::text, '/'))
  AND (${row}.method <> 'siwe' OR ${row}.issuer NOT LIKE 'eip155:%'
    OR ${row}.issuer = ANY (${sql.array([...contractIssuers], "text")}))
`;

type IdentityKey = Pick<ProvenIdentity, "method" | "issuer" | "subject">;

/**
 * Locks an identity by its key (method, issuer and subject) and returns it. The lock also works if
 * the identity does not exist yet. The second of two concurrent first sign-ins therefore finds the
 * account that the first one created. Call it before locking an account's row.
 */
export const lockIdentity = async (
  tx: Transaction,
  { method, issuer, subject }: IdentityKey,
): Promise<Identity | undefined> => {
  const lockKey = JSON.stringify(["identity", method, issuer, subject]);
  await tx.query(sqlVoid`SELECT FROM pg_advisory_xact_lock(hashtextextended(${lockKey}, 0))`);
  // This is a separate statement, so that it sees what was committed while the lock was awaited.
  return (
    (await tx.maybeOne(sql.type(IdentityRow)`
    SELECT ${columns} FROM identities
    WHERE method = ${method} AND issuer = ${issuer} AND subject = ${subject}
    FOR UPDATE
  `)) ?? undefined
  );
};

/** Links an identity to an account. The caller must hold the lock of {@link lockIdentity}. */
export const insertIdentity = async (
  tx: Transaction,
  { id, accountId, method, issuer, subject, dateCreated }: Identity,
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
    VALUES (${id}, ${accountId}, ${method}, ${issuer}, ${subject}, ${sql.timestamp(dateCreated)})
  `);
};

/** Lists the identities of an account, oldest first. */
export const listIdentities = (db: Db, accountId: string): Promise<readonly Identity[]> =>
  db.any(sql.type(IdentityRow)`
    SELECT ${columns} FROM identities WHERE account_id = ${accountId} ORDER BY date_created, id
  `);

/** Unlinks and returns an identity of the account, or returns undefined if there is none. */
export const deleteIdentity = async (
  tx: Transaction,
  { id, accountId }: { id: string; accountId: string },
): Promise<Identity | undefined> =>
  (await tx.maybeOne(sql.type(IdentityRow)`
    DELETE FROM identities WHERE id = ${id} AND account_id = ${accountId} RETURNING ${columns}
  `)) ?? undefined;

/** Unlinks and returns every identity of an account. */
export const deleteIdentitiesOfAccount = (
  tx: Transaction,
  accountId: string,
): Promise<readonly Identity[]> =>
  tx.any(sql.type(IdentityRow)`
    DELETE FROM identities WHERE account_id = ${accountId} RETURNING ${columns}
  `);
