import * as z from "zod";
import { sql } from "slonik";
import {
  type Account,
  type SessionService,
  createApiError,
  signInMethods,
} from "@payment-links/contracts";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { SessionCredential } from "../domain/introspection.ts";
import { type Session, type SignInMethod, sessionIdleMs, sessionsMax } from "../domain/session.ts";
import { AccountRow, accountColumns, lockAccount } from "./accounts.ts";
import type { ActiveIssuers } from "../domain/identity.ts";
import { isActiveIssuer } from "./identities.ts";

const SessionRow = z.object({ id: z.string(), accountId: z.string(), method: z.string() });
const SessionIdRow = z.object({ id: z.string() });
const ListedSessionRow = z.object({
  id: z.string(),
  method: z.enum(signInMethods),
  dateCreated: z.date(),
  lastSeenAt: z.date(),
  expiresAt: z.date(),
  device: z.string().nullable(),
});

/** The SHA-256 of the session's token for each service. */
export type SessionHashes = Readonly<Record<SessionService, Buffer>>;

type NewSession = {
  id: string;
  accountId: string;
  hashes: SessionHashes;
  method: SignInMethod;
  /** The identity or the passkey that signed in, if any. */
  identityId: string | undefined;
  device: string | null;
  now: Date;
  /** When the user authenticated. This can be earlier than the sign-in. */
  provenAt: Date;
  expiresAt: Date;
};

/**
 * Inserts a session with only the hashes of its tokens. Deletes the oldest sessions above the limit
 * and returns their ids.
 */
export const insertSession = async (
  tx: Transaction,
  { id, accountId, hashes, method, identityId, device, now, provenAt, expiresAt }: NewSession,
): Promise<readonly string[]> => {
  await tx.query(sqlVoid`
    INSERT INTO sessions (
      id, account_id, hash, links_api_hash, webhook_dispatcher_hash, method, identity_id,
      device, date_created, last_seen_at, presence_at, expires_at
    ) VALUES (
      ${id}, ${accountId}, ${sql.binary(hashes["auth-keys"])}, ${sql.binary(hashes["links-api"])},
      ${sql.binary(hashes["webhook-dispatcher"])}, ${method}, ${identityId ?? null},
      ${device}, ${sql.timestamp(now)}, ${sql.timestamp(now)}, ${sql.timestamp(provenAt)},
      ${sql.timestamp(expiresAt)}
    )
  `);
  return tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE account_id = ${accountId}
      ORDER BY date_created DESC, id DESC OFFSET ${sessionsMax}
    )
    RETURNING id
  `);
};

const SessionEndRow = z.object({ expiresAt: z.date() });

/**
 * Stores a proof of presence and replaces the session's tokens. The account must be locked. Returns
 * the session's absolute expiry. Keeps the stored time of the proof if it is newer than the given
 * one.
 */
export const renewSession = async (
  tx: Transaction,
  { id, hashes, provenAt }: { id: string; hashes: SessionHashes; provenAt: Date },
): Promise<Date> =>
  tx.oneFirst(sql.type(SessionEndRow)`
    UPDATE sessions SET hash = ${sql.binary(hashes["auth-keys"])},
      links_api_hash = ${sql.binary(hashes["links-api"])},
      webhook_dispatcher_hash = ${sql.binary(hashes["webhook-dispatcher"])},
      presence_at = greatest(coalesce(presence_at, date_created), ${sql.timestamp(provenAt)})
    WHERE id = ${id}
    RETURNING expires_at AS "expiresAt"
  `);

/**
 * Deletes and returns the session of a token, if there is one. Deletes it by its id: a concurrent
 * proof of presence, for which this statement waits, replaces the token, so a condition on the
 * token would no longer match.
 */
export const deleteSessionByHash = async (
  tx: Transaction,
  hash: Buffer,
): Promise<z.output<typeof SessionRow> | undefined> =>
  (await tx.maybeOne(sql.type(SessionRow)`
    DELETE FROM sessions WHERE id = (
      SELECT id FROM sessions WHERE hash = ${sql.binary(hash)}
    )
    RETURNING id, account_id AS "accountId", method
  `)) ?? undefined;

/** Deletes a session of the account. Returns whether it existed. */
export const deleteSession = async (
  tx: Transaction,
  { id, accountId }: { id: string; accountId: string },
): Promise<boolean> => {
  const { rowCount } = await tx.query(sqlVoid`
    DELETE FROM sessions WHERE id = ${id} AND account_id = ${accountId}
  `);
  return rowCount > 0;
};

/** Deletes the sessions that an identity or a passkey started, except one. Returns their ids. */
export const deleteSessionsOfIdentity = (
  tx: Transaction,
  { identityId, exceptId }: { identityId: string; exceptId: string },
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE identity_id = ${identityId} AND id <> ${exceptId} RETURNING id
  `);

/** Deletes all sessions of an account except one. Returns their ids. */
export const deleteOtherSessions = (
  tx: Transaction,
  { accountId, exceptId }: { accountId: string; exceptId: string },
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE account_id = ${accountId} AND id <> ${exceptId} RETURNING id
  `);

/** Deletes all sessions of an account. Returns their ids. */
export const deleteSessionsOfAccount = (
  tx: Transaction,
  accountId: string,
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE account_id = ${accountId} RETURNING id
  `);

/**
 * Locks and reads the account of a caller who was authenticated before the lock. Throws
 * UNAUTHENTICATED or ACCOUNT_SUSPENDED if the session ended or the account was suspended in
 * between, so a revocation also stops requests in progress. Locks the session's row until the
 * transaction ends. Code that ends the session waits for this lock, so the session cannot change
 * anything after its end was confirmed.
 *
 * The lock order is always account, then session. Code that deletes sessions under their account's
 * lock never runs concurrently with this function. Code that deletes a session without that lock
 * does not hold any lock that a change to the account needs later. The job that deletes expired
 * sessions skips locked ones. Recording a use does not conflict with this lock.
 */
export const lockCallerAccount = async (
  tx: Transaction,
  { account: { id }, credential }: { account: { id: string }; credential: { id: string } },
): Promise<Account> => {
  const account = await lockAccount(tx, id);
  if (account.isSuspended === true) throw createApiError("ACCOUNT_SUSPENDED");
  const { rowCount } = await tx.query(sqlVoid`
    SELECT FROM sessions WHERE id = ${credential.id} FOR KEY SHARE
  `);
  if (rowCount === 0) throw createApiError("UNAUTHENTICATED");
  return account;
};

/** Lists the active sessions of an account, newest first. */
export const listSessions = (
  db: Db,
  { accountId, now }: { accountId: string; now: Date },
): Promise<readonly Session[]> => {
  const idleSince = new Date(now.getTime() - sessionIdleMs);
  return db.any(sql.type(ListedSessionRow)`
    SELECT id, method, date_created AS "dateCreated", last_seen_at AS "lastSeenAt",
      expires_at AS "expiresAt", device
    FROM sessions
    WHERE account_id = ${accountId} AND expires_at > ${sql.timestamp(now)}
      AND last_seen_at > ${sql.timestamp(idleSince)}
    ORDER BY date_created DESC, id DESC
  `);
};

const FoundSessionRow = AccountRow.extend({
  credentialId: z.string(),
  method: z.string(),
  lastSeenAt: z.date(),
  expiresAt: z.date(),
  provenAt: z.date(),
  ownMethods: z.array(z.string()),
});

/**
 * Matches a service's token. Compares it only with that service's column, so that a token does not
 * work at another service (rule CALLER-40). A session without the other hashes is from an older
 * release, which sent one token to all services. It is treated as ended.
 */
const matchesTokenHash = (service: SessionService, hash: Buffer) =>
  ({
    "auth-keys": sql.fragment`s.hash = ${sql.binary(hash)} AND s.links_api_hash IS NOT NULL`,
    "links-api": sql.fragment`s.links_api_hash = ${sql.binary(hash)}`,
    "webhook-dispatcher": sql.fragment`s.webhook_dispatcher_hash = ${sql.binary(hash)}`,
  })[service];

/**
 * Finds a session by the hash of a service's token, with its account and the account's own sign-in
 * methods, in one round trip.
 */
export const findSessionByHash = async (
  db: Db,
  {
    hash,
    service,
    activeIssuers,
  }: { hash: Buffer; service: SessionService; activeIssuers: ActiveIssuers },
): Promise<SessionCredential | undefined> =>
  (await db.maybeOne(sql.type(FoundSessionRow)`
    SELECT ${accountColumns}, s.id AS "credentialId", s.method, s.last_seen_at AS "lastSeenAt",
      s.expires_at AS "expiresAt", coalesce(s.presence_at, s.date_created) AS "provenAt",
      ARRAY(
        SELECT i.method FROM identities i
        WHERE i.account_id = a.id AND ${isActiveIssuer(sql.fragment`i`, activeIssuers)}
        UNION
        SELECT 'passkey' FROM passkeys p WHERE p.account_id = a.id
      ) AS "ownMethods"
    FROM sessions s JOIN accounts a ON a.id = s.account_id
    WHERE ${matchesTokenHash(service, hash)}
  `)) ?? undefined;

/**
 * Deletes up to `rowsMax` sessions whose absolute timeout has passed. Returns how many. Skips
 * sessions that a transaction has locked, because waiting for them while holding other locks could
 * cause a deadlock.
 */
export const deleteExpiredSessions = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
      FOR UPDATE SKIP LOCKED
    )
  `);
  return rowCount;
};
