import { createHash } from "node:crypto";
import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import type { ParsedRecord } from "./cloud-event.ts";

const KeyRow = z.object({ key: z.string() });

type BlockedKeysQuery = { group: string; topic: string; parsedRecords: readonly ParsedRecord[] };

/** Returns the distinct keys, in their stored form, of all records that are not ignored. */
export const getStorableKeys = (parsedRecords: readonly ParsedRecord[]): string[] => [
  ...new Set(
    parsedRecords.flatMap(({ kind, record }) =>
      kind === "ignored" ? [] : (toStorableKey(record.key) ?? []),
    ),
  ),
];

/**
 * Selects the (topic, partition, key) rows whose key has dead letters, and locks the last dead
 * letter of each key.
 */
export const selectBlockedKeys = (query: {
  group: string;
  keys: readonly (readonly (string | number)[])[];
}): FragmentSqlToken => sql.fragment`
  SELECT asked.topic, asked.partition, asked.key
  FROM ${sql.unnest(query.keys, ["text", "int4", "text"])} AS asked (topic, partition, key)
  CROSS JOIN LATERAL (
    SELECT FROM dead_letters
    WHERE consumer = ${query.group} AND topic = asked.topic AND key = asked.key
    ORDER BY seq DESC LIMIT 1
    FOR KEY SHARE
  ) AS held
`;

/**
 * Returns the keys that have dead letters. Later records with such a key must be dead-lettered too.
 *
 * While a replay of a key is running, the lock on the key's last dead letter makes this query wait.
 * A record is therefore either dead-lettered behind the earlier ones or applied after all of them.
 * This transaction must already hold the lock on the group's position. Otherwise it could miss dead
 * letters that another member is about to commit.
 */
export const findBlockedKeys = async (
  tx: Transaction,
  { group, topic, parsedRecords }: BlockedKeysQuery,
): Promise<Set<string>> => {
  const keys = getStorableKeys(parsedRecords).map((key) => [topic, 0, key]);
  const rows = await tx.any(sql.prepared("find_parked_keys", KeyRow)`
    SELECT parked.key FROM (${selectBlockedKeys({ group, keys })}) AS parked
  `);
  return new Set(rows.map(({ key }) => key));
};

const keyLengthMax = 500;
const keyPrefixLength = 100;

/**
 * Returns a key in a form that fits an indexed column. NUL characters are replaced, and a long key
 * is shortened to its prefix and its SHA-256. Two keys from unknown producers can collide; our own
 * keys cannot.
 */
export const toStorableKey = (key: string | undefined): string | undefined => {
  const text = key?.replaceAll("\0", "\uFFFD");
  if (text === undefined || text.length <= keyLengthMax) return text;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, keyPrefixLength).toWellFormed()}… sha256:${hash}`;
};
