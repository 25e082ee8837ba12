import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { Identity, ActiveIssuers, ProvenIdentity } from "../domain/identity.ts";

const IdentityRow = z.object({
  id: z.string(),
  accountId: z.string(),
  method: z.enum(["siwe", "oidc"]),
  issuer: z.string(),
  subject: z.string(),
  dateCreated: z.date(),
});

const columns = sql.fragment`
  id, account_id AS "accountId", method, issuer, subject, date_created AS "dateCreated"
`;

/**
 * Whether a row's identity signs in here: one of a provider if that is the present one, and a contract's if
 * its chain can be asked. Discovery takes a configured issuer for the provider's own where they differ by
 * the slash at the end alone.
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
 * Finds an identity behind a lock on its name, which works even while nobody has that identity. So
 * the second of two first sign-ins at once finds the account that the first one made. Taken before
 * an account's row.
 */
export const lockIdentity = async (
  tx: Transaction,
  { method, issuer, subject }: IdentityKey,
): Promise<Identity | undefined> => {
  const lockKey = JSON.stringify(["identity", method, issuer, subject]);
  await tx.query(sqlVoid`SELECT FROM pg_advisory_xact_lock(hashtextextended(${lockKey}, 0))`);
  // A second statement, so that it sees what was committed during the wait.
  return (
    (await tx.maybeOne(sql.type(IdentityRow)`
    SELECT ${columns} FROM identities
    WHERE method = ${method} AND issuer = ${issuer} AND subject = ${subject}
    FOR UPDATE
  `)) ?? undefined
  );
};

/** Links an identity, whose name is locked, to an account. */
export const insertIdentity = async (
  tx: Transaction,
  { id, accountId, method, issuer, subject, dateCreated }: Identity,
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
    VALUES (${id}, ${accountId}, ${method}, ${issuer}, ${subject}, ${sql.timestamp(dateCreated)})
  `);
};

/** The identities of an account, the oldest first. */
export const listIdentities = (db: Db, accountId: string): Promise<readonly Identity[]> =>
  db.any(sql.type(IdentityRow)`
    SELECT ${columns} FROM identities WHERE account_id = ${accountId} ORDER BY date_created, id
  `);

/** Unlinks an identity of the account; answers which it was, if there was one. */
export const deleteIdentity = async (
  tx: Transaction,
  { id, accountId }: { id: string; accountId: string },
): Promise<Identity | undefined> =>
  (await tx.maybeOne(sql.type(IdentityRow)`
    DELETE FROM identities WHERE id = ${id} AND account_id = ${accountId} RETURNING ${columns}
  `)) ?? undefined;

/** Unlinks every identity of an account; answers which they were. */
export const deleteIdentitiesOfAccount = (
  tx: Transaction,
  accountId: string,
): Promise<readonly Identity[]> =>
  tx.any(sql.type(IdentityRow)`
    DELETE FROM identities WHERE account_id = ${accountId} RETURNING ${columns}
  `);
