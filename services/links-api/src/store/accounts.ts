import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { sql } from "slonik";
import * as z from "zod";
import { type LatestPublished, isNewerThanStored, setLatestPublished } from "@payment-links/bus";
import { Account } from "@payment-links/contracts";
import { type Db, sqlVoid } from "@payment-links/postgres";

const VersionRow = z.object({ version: z.int() });

const accountsMax = 10_000;

/**
 * Remembers the state of each account that this process last stored, so that each state is stored
 * only once. It compares whole states, because a version does not identify a state: auth-keys may
 * have been restored from a backup (rule EVENT-7).
 */
export type WrittenAccountCache = {
  has(account: Account): boolean;
  add(account: Account): void;
};

/** Creates the cache of written accounts. It evicts the least recently used ones. */
export const createWrittenAccountCache = (): WrittenAccountCache => {
  const writtenStates = new LRUCache<string, Account>({ max: accountsMax });
  return {
    // This is usually the same object, because callers are cached for a while.
    has: (account) => {
      const writtenState = writtenStates.get(account.id);
      return writtenState === account || isDeepStrictEqual(writtenState, account);
    },
    add: (account) => void writtenStates.set(account.id, account),
  };
};

/**
 * Builds the `INSERT` that stores an account's state unless a newer one is stored (rule EVENT-7).
 */
export const buildAccountUpsert = (
  account: Account,
  { publishedAt, versionsRestartedAt }: LatestPublished,
) => sql.fragment`
  INSERT INTO accounts AS kept (id, version, profile, told_at, anew_from)
  VALUES (
    ${account.id}, ${account.version}::int, ${JSON.stringify(z.encode(Account, account))}::jsonb,
    ${publishedAt.toISOString()}::timestamptz, ${versionsRestartedAt?.toISOString() ?? null}::timestamptz
  )
  ON CONFLICT (id) DO UPDATE
  SET version = excluded.version, profile = excluded.profile, ${setLatestPublished}
  WHERE ${isNewerThanStored}
`;

/** Stores an account's state unless a newer one is stored. Returns whether it was stored. */
export const upsertAccount = async (
  db: Db,
  account: Account,
  latestPublished: LatestPublished,
): Promise<boolean> => {
  const { rowCount } = await db.query(sqlVoid`${buildAccountUpsert(account, latestPublished)}`);
  return rowCount > 0;
};

/** Returns the version of the stored account, or undefined if the account is unknown. */
export const findAccountVersion = async (
  db: Db,
  accountId: string,
): Promise<number | undefined> => {
  const row = await db.maybeOne(sql.type(VersionRow)`
    SELECT version FROM accounts WHERE id = ${accountId}
  `);
  return row?.version;
};
