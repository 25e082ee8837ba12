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
});

/** The SHA-256 of the session's token for each service. */
export type SessionHashes = Readonly<Record<SessionService, Buffer>>;

type NewSession = {
  id: string;
  accountId: string;
  hashes: SessionHashes;
  method: SignInMethod;
  /** The identity or the passkey that signed in, if one did. */
  identityId: string | undefined;
  now: Date;
  /** When the person proved to be who they are, which may have been before. */
  provenAt: Date;
  expiresAt: Date;
};

/**
 * Stores a session, with only the hashes of its tokens. Ends the oldest ones above the limit, and answers
 * which.
 */
export const insertSession = async (
  tx: Transaction,
  { id, accountId, hashes, method, identityId, now, provenAt, expiresAt }: NewSession,
): Promise<readonly string[]> => {
  await tx.query(sqlVoid`
    INSERT INTO sessions (
      id, account_id, hash, links_api_hash, webhook_dispatcher_hash, method, identity_id,
      date_created, last_seen_at, presence_at, expires_at
    ) VALUES (
      ${id}, ${accountId}, ${sql.binary(hashes["auth-keys"])}, ${sql.binary(hashes["links-api"])},
      ${sql.binary(hashes["webhook-dispatcher"])}, ${method}, ${identityId ?? null},
      ${sql.timestamp(now)}, ${sql.timestamp(now)}, ${sql.timestamp(provenAt)},
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
 * Writes that a session's person has proven to be there, and gives the session, whose account is
 * locked, other tokens; answers when it ends. An older proof than the last one changes nothing.
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
 * Ends a token's session, if there is one; answers which it was. Found first, and deleted by its id: a proof
 * of presence under way, for which this waits, gives it another token.
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

/** Ends a session of the account; answers whether there was one. */
export const deleteSession = async (
  tx: Transaction,
  { id, accountId }: { id: string; accountId: string },
): Promise<boolean> => {
  const { rowCount } = await tx.query(sqlVoid`
    DELETE FROM sessions WHERE id = ${id} AND account_id = ${accountId}
  `);
  return rowCount > 0;
};

/** Ends the sessions that an identity or a passkey began, except one; answers their ids. */
export const deleteSessionsOfIdentity = (
  tx: Transaction,
  { identityId, exceptId }: { identityId: string; exceptId: string },
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE identity_id = ${identityId} AND id <> ${exceptId} RETURNING id
  `);

/** Ends all sessions of an account; answers their ids. */
export const deleteSessionsOfAccount = (
  tx: Transaction,
  accountId: string,
): Promise<readonly string[]> =>
  tx.anyFirst(sql.type(SessionIdRow)`
    DELETE FROM sessions WHERE account_id = ${accountId} RETURNING id
  `);

/**
 * Locks and reads the account of a signed-in caller, who was asked about before the lock. Throws
 * UNAUTHENTICATED or ACCOUNT_SUSPENDED if the session or the account was taken away in between:
 * what is taken away must stay so, however many calls were under way. The session stays until the
 * transaction ends: its end waits, so that it changes nothing more once its end was answered.
 *
 * Always the account before the session. Whoever deletes sessions behind their account's lock never
 * meets a change here; whoever deletes one without it holds nothing that a change of its account goes on
 * to ask for, and the job that deletes many waits for none. Noting a use passes by this lock.
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

/** The sessions of an account that have not ended, the newest first. */
export const listSessions = (
  db: Db,
  { accountId, now }: { accountId: string; now: Date },
): Promise<readonly Session[]> => {
  const idleSince = new Date(now.getTime() - sessionIdleMs);
  return db.any(sql.type(ListedSessionRow)`
    SELECT id, method, date_created AS "dateCreated", last_seen_at AS "lastSeenAt",
      expires_at AS "expiresAt"
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
 * How each service's token is looked up: by no other column, so that none is good at another service
 * (rule CALLER-40). A session without the others' hashes is of an older release, which sent its one
 * token to all services: it has ended.
 */
const matchesTokenHash = (service: SessionService, hash: Buffer) =>
  ({
    "auth-keys": sql.fragment`s.hash = ${sql.binary(hash)} AND s.links_api_hash IS NOT NULL`,
    "links-api": sql.fragment`s.links_api_hash = ${sql.binary(hash)}`,
    "webhook-dispatcher": sql.fragment`s.webhook_dispatcher_hash = ${sql.binary(hash)}`,
  })[service];

/**
 * Finds a session by the hash of a service's token, with the account behind it and the ways in which it signs
 * in here: one round trip.
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
 * Deletes at most so many sessions that are past their absolute end; answers how many. One whose own
 * change is under way is left for the next time: whoever waits while holding others could be waited for.
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
