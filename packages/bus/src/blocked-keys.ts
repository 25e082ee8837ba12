import { createHash } from "node:crypto";
import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import type { ParsedRecord } from "./cloud-event.ts";

const KeyRow = z.object({ key: z.string() });

type BlockedKeysQuery = { group: string; topic: string; parsedRecords: readonly ParsedRecord[] };

/** The keys of those records that can be parked or applied, as they are stored. */
export const getStorableKeys = (parsedRecords: readonly ParsedRecord[]): string[] => [
  ...new Set(
    parsedRecords.flatMap(({ kind, record }) =>
      kind === "ignored" ? [] : (toStorableKey(record.key) ?? []),
    ),
  ),
];

/** Selects which of some keys have parked records, and locks the last of each: rows of topic, partition and key. */
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
 * Which keys of a topic's records have parked ones: what follows must be parked behind those. It
 * waits for a replay under way on such a key, by the lock on the key's last parked row. So a record
 * is either parked behind the others or applied after all of them. The group's position must be
 * locked by this transaction, so that what another member was parking is seen.
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
 * A key as an indexed column can hold it: without NUL, and a long one as its beginning and its
 * SHA-256. Two strange keys may become the same; ours cannot.
 */
export const toStorableKey = (key: string | undefined): string | undefined => {
  const text = key?.replaceAll("\0", "\uFFFD");
  if (text === undefined || text.length <= keyLengthMax) return text;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, keyPrefixLength).toWellFormed()}… sha256:${hash}`;
};
