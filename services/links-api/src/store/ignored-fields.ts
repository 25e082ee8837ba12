import { sql } from "slonik";
import * as z from "zod";
import type { Mode } from "@payment-links/contracts";
import { type Db, type Pool, sqlVoid } from "@payment-links/postgres";

const IgnoredFieldsRow = z.object({
  keyId: z.string(),
  names: z.array(z.string()),
  seenAt: z.date(),
});
export type IgnoredFields = z.output<typeof IgnoredFieldsRow>;

/** Stores the fields that a create with an API key sent and that had no effect (rule API-43). */
export type RecordIgnoredFields = (
  key: { id: string; userId: string; mode: Mode },
  names: readonly string[],
) => Promise<void>;

const sameNamesMs = 60_000;
const otherNamesMs = 1_000;
const keysMax = 10_000;

/**
 * Creates the function that stores ignored fields: the same names of a key at most once per minute,
 * and other names at most once per second. A failure is logged, because the link has been created.
 */
export const createIgnoredFieldsRecorder = ({
  clock,
  log,
  pool,
}: {
  clock: { now(): Date; elapsedMs(): number };
  log: { warn(fields: object, message: string): void };
  pool: Pool;
}): RecordIgnoredFields => {
  const lastRecords = new Map<string, { text: string; atMs: number }>();
  return async ({ id, mode, userId }, names) => {
    const text = names.join();
    const nowMs = clock.elapsedMs();
    const lastRecord = lastRecords.get(id);
    const delayMs = lastRecord?.text === text ? sameNamesMs : otherNamesMs;
    if (lastRecord !== undefined && nowMs - lastRecord.atMs < delayMs) return;
    lastRecords.delete(id);
    lastRecords.set(id, { text, atMs: nowMs });
    for (const oldestId of [...lastRecords.keys()].slice(0, -keysMax)) lastRecords.delete(oldestId);
    try {
      await saveIgnoredFields(pool, { keyId: id, userId, mode, names, now: clock.now() });
    } catch (error) {
      log.warn({ err: error }, "ignored fields not stored");
    }
  };
};

const saveIgnoredFields = async (
  db: Db,
  fields: { keyId: string; userId: string; mode: Mode; names: readonly string[]; now: Date },
): Promise<void> => {
  await db.query(sqlVoid`
    INSERT INTO ignored_fields (key_id, user_id, names, seen_at, mode)
    VALUES (
      ${fields.keyId}, ${fields.userId}, ${sql.array([...fields.names], "text")},
      ${sql.timestamp(fields.now)}, ${fields.mode}
    )
    ON CONFLICT (key_id) DO UPDATE SET names = excluded.names, seen_at = excluded.seen_at
    WHERE ignored_fields.seen_at < excluded.seen_at
  `);
};

/** More than the keys that an account can have. */
const listedKeysMax = 200;

/** Lists the ignored fields of an account's keys of a mode, the newest first. */
export const listIgnoredFieldsOf = (
  db: Db,
  { mode, userId }: { mode: Mode; userId: string },
): Promise<readonly IgnoredFields[]> =>
  db.any(sql.type(IgnoredFieldsRow)`
    SELECT key_id AS "keyId", names, seen_at AS "seenAt" FROM ignored_fields
    WHERE user_id = ${userId} AND mode = ${mode} ORDER BY seen_at DESC, key_id LIMIT ${listedKeysMax}
  `);

/** Deletes ignored fields that were last seen before a time. Returns how many. */
export const deleteIgnoredFields = async (
  db: Db,
  { seenBefore, limit }: { seenBefore: Date; limit: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM ignored_fields WHERE key_id IN (
      SELECT key_id FROM ignored_fields WHERE seen_at < ${sql.timestamp(seenBefore)}
      ORDER BY seen_at LIMIT ${limit}
    )
  `);
  return rowCount;
};
