import * as z from "zod";
import { sql } from "slonik";
import {
  type OutgoingEvent,
  type RepublishSource,
  createOutgoingEvent,
  publish,
} from "@payment-links/bus";
import {
  Account,
  accountSnapshot,
  accountUpdated,
  ownerImagesSnapshot,
  ownerImagesUpdated,
} from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";

/**
 * An account as a database row. It differs from the JSON form in one field: the creation time is a
 * `Date`.
 */
export const AccountRow = Account.extend({ dateCreated: z.date() });

/**
 * The live wallets come first. A service of an earlier release, which does not know modes, uses the
 * first default, so it uses the live one.
 */
const wallets = sql.fragment`coalesce((
  SELECT jsonb_agg(jsonb_build_object(
    'id', w.id, 'walletAddress', w.wallet_address, 'tokenId', w.token_id,
    'chainType', w.chain_type, 'isDefault', w.is_default,
    'isChainDefault', w.is_chain_default, 'provider', w.provider, 'mode', w.mode
  ) || CASE WHEN w.first_address_index IS NULL THEN '{}'::jsonb
    ELSE jsonb_build_object('firstAddressIndex', w.first_address_index) END
    ORDER BY w.mode, w.date_created, w.id)
  FROM wallets w WHERE w.account_id = a.id
), '[]')`;

/** The columns of an account `a` with its wallets. */
export const { columns: accountColumns } = defineTable(AccountRow, {
  from: "a",
  expressions: {
    wallets,
    isSuspended: sql.fragment`a.suspended_at IS NOT NULL`,
    isVerified: sql.fragment`a.verified_at IS NOT NULL`,
  },
});

/** Reads an account that must exist. */
export const getAccount = (db: Db, accountId: string): Promise<Account> =>
  db.one(sql.type(AccountRow)`SELECT ${accountColumns} FROM accounts a WHERE a.id = ${accountId}`);

/** Finds the account that currently has, or once had, the handle. */
export const findAccountByHandle = async (db: Db, handle: string): Promise<Account | undefined> =>
  (await db.maybeOne(sql.type(AccountRow)`
    SELECT ${accountColumns} FROM handles h JOIN accounts a ON a.id = h.account_id
    WHERE h.handle = ${handle}
  `)) ?? undefined;

/** Finds an account by its id. */
export const findAccount = async (db: Db, accountId: string): Promise<Account | undefined> =>
  (await db.maybeOne(
    sql.type(AccountRow)`SELECT ${accountColumns} FROM accounts a WHERE a.id = ${accountId}`,
  )) ?? undefined;

/**
 * Locks an account's row and reads it. Every change to the account and to its dependent rows waits
 * for this lock. The read is a second statement, because a statement that waits for the lock would
 * return the wallets from before the wait.
 */
export const lockAccount = async (tx: Transaction, accountId: string): Promise<Account> => {
  await tx.query(sqlVoid`SELECT FROM accounts WHERE id = ${accountId} FOR UPDATE`);
  return getAccount(tx, accountId);
};

/** Inserts a new account. Its handle must be claimed in the same transaction. */
export const insertAccount = async (tx: Transaction, account: Account): Promise<void> => {
  const createdAt = sql.timestamp(account.dateCreated);
  await tx.query(sqlVoid`
    INSERT INTO accounts (id, version, handle, username, date_created, verified_at)
    VALUES (
      ${account.id}, ${account.version}, ${account.handle}, ${account.username}, ${createdAt},
      ${account.isVerified === true ? createdAt : null}
    )
  `);
};

/** Updates the fields that an owner may change. The account's row must be locked. */
export const updateAccount = async (tx: Transaction, account: Account): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE accounts SET
      handle = ${account.handle}, username = ${account.username}, bio = ${account.bio},
      profile_image = ${account.profileImage}, background_image = ${account.backgroundImage},
      background_colour = ${account.backgroundColour},
      links = ${account.links === null ? null : sql.array(account.links, "text")},
      return_url = ${account.returnUrl ?? null}
    WHERE id = ${account.id}
  `);
};

/**
 * Sets the time since which an account is suspended, or null if it is not. Its row must be locked.
 */
export const updateSuspension = async (
  tx: Transaction,
  { accountId, since }: { accountId: string; since: Date | null },
): Promise<void> => {
  const at = since === null ? null : sql.timestamp(since);
  await tx.query(sqlVoid`UPDATE accounts SET suspended_at = ${at} WHERE id = ${accountId}`);
};

/**
 * Sets the time since which an account is verified, or null if it is not. Its row must be locked.
 */
export const updateVerification = async (
  tx: Transaction,
  { accountId, since }: { accountId: string; since: Date | null },
): Promise<void> => {
  const verifiedAt = since === null ? null : sql.timestamp(since);
  await tx.query(sqlVoid`UPDATE accounts SET verified_at = ${verifiedAt} WHERE id = ${accountId}`);
};

/**
 * Creates the events of an account: the whole account for links-api, and its images for
 * webhook-dispatcher (rule EVENT-10).
 */
const createAccountEvents = (account: Account, occurredAt: Date): OutgoingEvent[] => [
  createOutgoingEvent(accountUpdated, { key: account.id, occurredAt, data: account }),
  createOutgoingEvent(ownerImagesUpdated, {
    key: account.id,
    occurredAt,
    data: getOwnerImages(account),
  }),
];

const getOwnerImages = ({ id, version, profileImage, backgroundImage }: Account) => ({
  id,
  version,
  profileImage,
  backgroundImage,
});

/** Publishes a new account as it was stored. */
export const publishNewAccount = (tx: Transaction, account: Account): Promise<void> =>
  publish(tx, createAccountEvents(account, account.dateCreated));

/**
 * Completes a change of an account, whose row must be locked. Increments its version, publishes its
 * current state, and returns it.
 */
export const publishAccount = async (
  tx: Transaction,
  accountId: string,
  now: Date,
): Promise<Account> => {
  const account = await tx.one(sql.type(AccountRow)`
    UPDATE accounts a SET version = version + 1 WHERE a.id = ${accountId}
    RETURNING ${accountColumns}
  `);
  await publish(tx, createAccountEvents(account, now));
  return account;
};

/** Republishes every account's current state as snapshots (rule EVENT-5). */
export const republishAccounts: RepublishSource = {
  resource: "accounts",
  table: "accounts",
  column: "id",
  readEvents: async (tx, accountIds, now) => {
    const accounts = await tx.any(sql.type(AccountRow)`
      SELECT ${accountColumns} FROM accounts a
      WHERE a.id = ANY (${sql.array([...accountIds], "text")}) ORDER BY a.id
    `);
    return accounts.flatMap((account) => [
      createOutgoingEvent(accountSnapshot, { key: account.id, occurredAt: now, data: account }),
      createOutgoingEvent(ownerImagesSnapshot, {
        key: account.id,
        occurredAt: now,
        data: getOwnerImages(account),
      }),
    ]);
  },
};
