import { sql } from "slonik";
import * as z from "zod";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

/**
 * An idempotency key, and the scope in which it is unique: `user_…` for an account in live mode,
 * and the same with a suffix in test mode. The column `owner_id` contains the scope.
 */
type ScopedKey = { scope: string; key: string };

const StoredResponseRow = z.object({
  bodyHash: z.instanceof(Buffer),
  answer: z.json(),
});

/** The first response to a request, with the SHA-256 hash of the request's body. */
export type StoredResponse = z.output<typeof StoredResponseRow>;

const LockRow = z.object({ isLocked: z.boolean() });
const DeletedRow = z.object({ createdAt: z.date() });

/**
 * Tries to lock a key until the transaction ends. Returns false immediately if it is already
 * locked. The database releases the lock if the process crashes.
 */
export const tryLockKey = async (tx: Transaction, { scope, key }: ScopedKey): Promise<boolean> => {
  // A scope does not contain spaces, so every pair results in a different text.
  const { isLocked } = await tx.one(sql.type(LockRow)`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${`${scope} ${key}`}, 0)) AS "isLocked"
  `);
  return isLocked;
};

/** Finds the response that was stored for a key after a given time. */
export const findStoredResponse = async (
  tx: Transaction,
  { scope, key }: ScopedKey,
  since: Date,
): Promise<StoredResponse | undefined> =>
  (await tx.maybeOne(sql.type(StoredResponseRow)`
    SELECT body_hash AS "bodyHash", answer FROM idempotency_keys
    WHERE owner_id = ${scope} AND key = ${key} AND created_at > ${sql.timestamp(since)}
  `)) ?? undefined;

/** Stores a response. It replaces an expired response that has not been deleted yet. */
export const saveResponse = async (
  tx: Transaction,
  { scope, key }: ScopedKey,
  { bodyHash, answer }: StoredResponse,
  now: Date,
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO idempotency_keys (owner_id, key, body_hash, answer, created_at)
    VALUES (
      ${scope}, ${key}, ${sql.binary(bodyHash)}, ${sql.jsonb(answer)}, ${sql.timestamp(now)}
    )
    ON CONFLICT (owner_id, key) DO UPDATE SET
      body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at
  `);
};

/**
 * Deletes the oldest of the responses that were stored before a given time, at most `responsesMax`.
 * Returns their number and the time of the newest deleted one. `from` makes the scan skip the dead
 * index entries of responses that were deleted earlier, which remain until vacuum runs.
 */
export const deleteExpiredResponses = async (
  db: Db,
  {
    createdBefore,
    from,
    responsesMax,
  }: { createdBefore: Date; from?: Date | undefined; responsesMax: number },
): Promise<{ count: number; until: Date | undefined }> => {
  const rows = await db.any(sql.type(DeletedRow)`
    DELETE FROM idempotency_keys WHERE (owner_id, key) IN (
      SELECT owner_id, key FROM idempotency_keys
      WHERE created_at <= ${sql.timestamp(createdBefore)}
        AND created_at >= ${sql.timestamp(from ?? new Date(0))}
      ORDER BY created_at LIMIT ${responsesMax}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING created_at AS "createdAt"
  `);
  const latestMs = rows.reduce((latest, { createdAt }) => Math.max(latest, createdAt.getTime()), 0);
  return { count: rows.length, until: rows.length === 0 ? undefined : new Date(latestMs) };
};
