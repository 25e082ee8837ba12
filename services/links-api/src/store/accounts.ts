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
 * Remembers which state of an account this process has written last, so that it writes each once. A
 * version alone does not name a state, as auth-keys may have been restored (rule EVENT-7).
 */
export type WrittenAccountCache = {
  has(account: Account): boolean;
  add(account: Account): void;
};

/** Makes the memory of written accounts; the least recently used are forgotten first. */
export const createWrittenAccountCache = (): WrittenAccountCache => {
  const writtenStates = new LRUCache<string, Account>({ max: accountsMax });
  return {
    // It is nearly always the same object: a caller's answer serves for a while.
    has: (account) => {
      const writtenState = writtenStates.get(account.id);
      return writtenState === account || isDeepStrictEqual(writtenState, account);
    },
    add: (account) => void writtenStates.set(account.id, account),
  };
};

/** The `INSERT` that keeps an account's state, unless a newer one is already there (rule EVENT-7). */
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

/** Keeps an account's state, unless a newer one is already there. Answers whether it is kept. */
export const upsertAccount = async (
  db: Db,
  account: Account,
  latestPublished: LatestPublished,
): Promise<boolean> => {
  const { rowCount } = await db.query(sqlVoid`${buildAccountUpsert(account, latestPublished)}`);
  return rowCount > 0;
};

/** The version of an account that is kept; undefined if it was never heard of. */
export const findAccountVersion = async (
  db: Db,
  accountId: string,
): Promise<number | undefined> => {
  const row = await db.maybeOne(sql.type(VersionRow)`
    SELECT version FROM accounts WHERE id = ${accountId}
  `);
  return row?.version;
};
