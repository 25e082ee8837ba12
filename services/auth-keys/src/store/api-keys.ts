import * as z from "zod";
import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import type { ApiKey } from "../domain/api-key.ts";
import type { FoundKey } from "../domain/introspection.ts";
import type { CredentialUse } from "../domain/last-uses.ts";
import { AccountRow, accountColumns } from "./accounts.ts";

const ApiKeyRow = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.date().nullable(),
  isActive: z.boolean(),
  dateCreated: z.date(),
  lastUsedAt: z.date().nullable(),
});
const Count = z.object({ count: z.int() });
const nothing = sql.type(z.object({}).strict());

const columns = sql.fragment`
  k.id, k.name, k.prefix, k.scopes, k.expires_at AS "expiresAt", k.is_active AS "isActive",
  k.date_created AS "dateCreated", k.last_used_at AS "lastUsedAt"
`;

type Owned = { accountId: string; id: string };

/** Stores a key, by the hash of its secret alone. */
export const insertApiKey = async (
  tx: DatabaseTransactionConnection,
  { accountId, key, hash }: { accountId: string; key: ApiKey; hash: Buffer },
): Promise<void> => {
  await tx.query(nothing`
    INSERT INTO api_keys (
      id, account_id, hash, prefix, name, scopes, expires_at, is_active, date_created
    ) VALUES (
      ${key.id}, ${accountId}, ${sql.binary(hash)}, ${key.prefix}, ${key.name},
      ${sql.array(key.scopes, "text")},
      ${key.expiresAt === null ? null : sql.timestamp(key.expiresAt)}, ${key.isActive},
      ${sql.timestamp(key.dateCreated)}
    )
  `);
};

/** Counts an account's keys that are not revoked. */
export const countApiKeys = (db: CommonQueryMethods, accountId: string): Promise<number> =>
  db.oneFirst(sql.type(Count)`
    SELECT count(*)::int AS count FROM api_keys
    WHERE account_id = ${accountId} AND revoked_at IS NULL
  `);

/** Lists an account's keys that are not revoked, newest first; `apiKeysMax` bounds them. */
export const listApiKeys = (
  db: CommonQueryMethods,
  accountId: string,
): Promise<readonly ApiKey[]> =>
  db.any(sql.type(ApiKeyRow)`
    SELECT ${columns} FROM api_keys k
    WHERE k.account_id = ${accountId} AND k.revoked_at IS NULL
    ORDER BY k.date_created DESC, k.id DESC
  `);

/** Locks a key of an account that is not revoked; null where there is none. */
export const lockApiKey = (
  tx: DatabaseTransactionConnection,
  { accountId, id }: Owned,
): Promise<ApiKey | null> =>
  tx.maybeOne(sql.type(ApiKeyRow)`
    SELECT ${columns} FROM api_keys k
    WHERE k.id = ${id} AND k.account_id = ${accountId} AND k.revoked_at IS NULL
    FOR UPDATE
  `);

/** Switches a key on or off. */
export const updateApiKeyActive = async (
  tx: DatabaseTransactionConnection,
  { id, isActive }: { id: string; isActive: boolean },
): Promise<void> => {
  await tx.query(nothing`UPDATE api_keys SET is_active = ${isActive} WHERE id = ${id}`);
};

/** Revokes a key for ever. The row stays: its hash must never come to life again. */
export const revokeApiKey = async (
  tx: DatabaseTransactionConnection,
  { id, now }: { id: string; now: Date },
): Promise<void> => {
  await tx.query(nothing`UPDATE api_keys SET revoked_at = ${sql.timestamp(now)} WHERE id = ${id}`);
};

const FoundKeyRow = AccountRow.extend({
  credentialId: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.date().nullable(),
  isActive: z.boolean(),
  isRevoked: z.boolean(),
});

/** Finds a key by its hash, with the account behind it: one round trip, as every call may ask it. */
export const findApiKeyByHash = (db: CommonQueryMethods, hash: Buffer): Promise<FoundKey | null> =>
  db.maybeOne(sql.type(FoundKeyRow)`
    SELECT ${accountColumns}, k.id AS "credentialId", k.scopes, k.expires_at AS "expiresAt",
      k.is_active AS "isActive", k.revoked_at IS NOT NULL AS "isRevoked"
    FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.hash = ${sql.binary(hash)}
  `);

/** Keeps when keys were last used. Rows are locked in one order, as replicas write the same keys. */
export const keepApiKeyUses = async (
  db: CommonQueryMethods,
  uses: readonly CredentialUse[],
): Promise<void> => {
  if (uses.length === 0) return;
  await db.query(nothing`
    WITH used AS (
      SELECT * FROM ${sql.unnest(
        uses.map(({ id, at }) => [id, at.toISOString()]),
        ["text", "timestamptz"],
      )} AS used (id, at)
    ), locked AS (
      SELECT k.id FROM api_keys k JOIN used ON used.id = k.id ORDER BY k.id FOR UPDATE OF k
    )
    UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, used.at)
    FROM used JOIN locked ON locked.id = used.id WHERE k.id = used.id
  `);
};
