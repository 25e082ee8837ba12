import * as z from "zod";
import { sql } from "slonik";
import { Mode } from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import type { ApiKey, KeyRateLimit } from "../domain/api-key.ts";
import type { KeyCredential } from "../domain/introspection.ts";
import { AccountRow, accountColumns } from "./accounts.ts";

const ApiKeyRow = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  mode: Mode,
  scopes: z.array(z.string()),
  cidrs: z.array(z.string()).nullable(),
  requestsPerMinute: z.int().nullable(),
  burst: z.int().nullable(),
  expiresAt: z.date().nullable(),
  isActive: z.boolean(),
  replacedBy: z.string().nullable(),
  bucketId: z.string(),
  dateCreated: z.date(),
  lastUsedAt: z.date().nullable(),
  lastUsedAddress: z.string().nullable(),
});

const bucketId = sql.fragment`coalesce(k.bucket_id, k.id)`;
const { columns } = defineTable(ApiKeyRow, { from: "k", expressions: { bucketId } });

/**
 * Matches the keys that their owner can see. Revoked keys are hidden, and so are replaced keys that
 * have expired.
 */
const isCurrentKey = (now: Date) => sql.fragment`
  k.revoked_at IS NULL AND (k.replaced_by IS NULL OR k.expires_at > ${sql.timestamp(now)})
`;

type OwnedKeyQuery = { accountId: string; id: string; now: Date };

/** Inserts a key with only the hash of its secret. */
export const insertApiKey = async (
  tx: Transaction,
  { accountId, key, hash }: { accountId: string; key: ApiKey; hash: Buffer },
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO api_keys (
      id, account_id, hash, prefix, name, scopes, cidrs, requests_per_minute, burst, expires_at,
      is_active, bucket_id, date_created, mode
    ) VALUES (
      ${key.id}, ${accountId}, ${sql.binary(hash)}, ${key.prefix}, ${key.name},
      ${sql.array(key.scopes, "text")}, ${key.cidrs && sql.array(key.cidrs, "text")},
      ${key.requestsPerMinute}, ${key.burst},
      ${key.expiresAt === null ? null : sql.timestamp(key.expiresAt)}, ${key.isActive},
      ${key.bucketId}, ${sql.timestamp(key.dateCreated)}, ${key.mode}
    )
  `);
};

const KeyIdRow = z.object({ id: z.string() });
const KeyCounts = z.object({ currentCount: z.int(), replacedCount: z.int() });
type KeyCounts = z.output<typeof KeyCounts>;

/** Counts an account's current keys, and its replaced keys that still work, for the limits. */
export const countApiKeys = (
  db: Db,
  { accountId, now }: Omit<OwnedKeyQuery, "id">,
): Promise<KeyCounts> =>
  db.one(sql.type(KeyCounts)`
    SELECT count(*) FILTER (WHERE k.replaced_by IS NULL)::int AS "currentCount",
      count(*) FILTER (WHERE k.replaced_by IS NOT NULL)::int AS "replacedCount"
    FROM api_keys k WHERE k.account_id = ${accountId} AND ${isCurrentKey(now)}
  `);

/**
 * Lists the keys that the account's owner can see, newest first. `apiKeysMax` and `replacedKeysMax`
 * limit their number.
 */
export const listApiKeys = (
  db: Db,
  { accountId, now }: Omit<OwnedKeyQuery, "id">,
): Promise<readonly ApiKey[]> =>
  db.any(sql.type(ApiKeyRow)`
    SELECT ${columns} FROM api_keys k
    WHERE k.account_id = ${accountId} AND ${isCurrentKey(now)}
    ORDER BY k.date_created DESC, k.id DESC
  `);

/** Locks and returns a key that the account's owner can see. Returns undefined if there is none. */
export const lockApiKey = async (
  tx: Transaction,
  { accountId, id, now }: OwnedKeyQuery,
): Promise<ApiKey | undefined> =>
  (await tx.maybeOne(sql.type(ApiKeyRow)`
    SELECT ${columns} FROM api_keys k
    WHERE k.id = ${id} AND k.account_id = ${accountId} AND ${isCurrentKey(now)}
    FOR UPDATE
  `)) ?? undefined;

/**
 * Locks the keys that the account's owner can see and that share a rate-limit bucket with the given
 * key, including that key. Locks them in the order of their ids, as the job that writes last uses
 * does.
 */
export const lockApiKeysOfBucket = (
  tx: Transaction,
  { accountId, id, now }: OwnedKeyQuery,
): Promise<readonly ApiKey[]> =>
  tx.any(sql.type(ApiKeyRow)`
    SELECT ${columns} FROM api_keys k
    WHERE k.account_id = ${accountId} AND ${isCurrentKey(now)}
      AND coalesce(k.bucket_id, k.id) = (
        SELECT coalesce(bucket_id, id) FROM api_keys WHERE id = ${id} AND account_id = ${accountId}
      )
    ORDER BY k.id FOR UPDATE
  `);

/** Sets the rate limit of keys. Their rows must be locked by this transaction. */
export const updateApiKeyLimits = async (
  tx: Transaction,
  { ids, requestsPerMinute, burst }: KeyRateLimit & { ids: readonly string[] },
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE api_keys SET requests_per_minute = ${requestsPerMinute}, burst = ${burst}
    WHERE id = ANY (${sql.array([...ids], "text")})
  `);
};

/** Stores which key replaced a key, and when the replaced key expires. */
export const updateApiKeyReplaced = async (
  tx: Transaction,
  { id, replacedBy, expiresAt }: { id: string; replacedBy: string; expiresAt: Date },
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE api_keys SET replaced_by = ${replacedBy}, expires_at = ${sql.timestamp(expiresAt)}
    WHERE id = ${id}
  `);
};

/** Activates or deactivates a key. */
export const updateApiKeyActive = async (
  tx: Transaction,
  { id, isActive }: { id: string; isActive: boolean },
): Promise<void> => {
  await tx.query(sqlVoid`UPDATE api_keys SET is_active = ${isActive} WHERE id = ${id}`);
};

/** Revokes a key permanently. The row stays, so that its hash can never become valid again. */
export const revokeApiKey = async (
  tx: Transaction,
  { id, now }: { id: string; now: Date },
): Promise<void> => {
  await tx.query(sqlVoid`UPDATE api_keys SET revoked_at = ${sql.timestamp(now)} WHERE id = ${id}`);
};

const LeakedKeyRow = z.object({ id: z.string(), accountId: z.string(), isWorking: z.boolean() });

/** Locks the key with this hash, of any account. `isWorking` is false for inactive and revoked keys. */
export const lockApiKeyByHash = async (
  tx: Transaction,
  hash: Buffer,
): Promise<z.output<typeof LeakedKeyRow> | undefined> =>
  (await tx.maybeOne(sql.type(LeakedKeyRow)`
    SELECT id, account_id AS "accountId", is_active AND revoked_at IS NULL AS "isWorking"
    FROM api_keys WHERE hash = ${sql.binary(hash)} FOR UPDATE
  `)) ?? undefined;

/** Revokes every key of an account permanently. Returns their ids. */
export const revokeApiKeysOfAccount = (
  tx: Transaction,
  { accountId, now }: { accountId: string; now: Date },
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(KeyIdRow)`
    UPDATE api_keys SET revoked_at = ${sql.timestamp(now)}
    WHERE account_id = ${accountId} AND revoked_at IS NULL RETURNING id
  `);

const CredentialRow = ApiKeyRow.pick({
  bucketId: true,
  mode: true,
  scopes: true,
  cidrs: true,
  requestsPerMinute: true,
  burst: true,
  expiresAt: true,
  isActive: true,
}).extend({ credentialId: z.string(), isRevoked: z.boolean() });
const FoundKeyRow = AccountRow.extend(CredentialRow.shape);

const { columns: credentialColumns } = defineTable(CredentialRow, {
  from: "k",
  expressions: {
    bucketId,
    credentialId: sql.fragment`k.id`,
    isRevoked: sql.fragment`k.revoked_at IS NOT NULL`,
  },
});

/**
 * Finds a key by its hash, with its account. Needs only one round trip, because every API call can
 * require this lookup.
 */
export const findApiKeyByHash = async (db: Db, hash: Buffer): Promise<KeyCredential | undefined> =>
  (await db.maybeOne(sql.type(FoundKeyRow)`
    SELECT ${accountColumns}, ${credentialColumns}
    FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.hash = ${sql.binary(hash)}
  `)) ?? undefined;
