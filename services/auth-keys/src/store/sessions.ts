import * as z from "zod";
import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import type { FoundSession } from "../domain/introspection.ts";
import type { CredentialUse } from "../domain/last-uses.ts";
import { sessionsMax } from "../domain/session.ts";
import { AccountRow, accountColumns } from "./accounts.ts";

const SessionRow = z.object({ id: z.string(), accountId: z.string() });
const nothing = sql.type(z.object({}).strict());

type NewSession = { id: string; accountId: string; hash: Buffer; now: Date; expiresAt: Date };

/** Stores a session, by the hash of its token alone, and ends the oldest ones above the limit. */
export const insertSession = async (
  tx: DatabaseTransactionConnection,
  { id, accountId, hash, now, expiresAt }: NewSession,
): Promise<void> => {
  await tx.query(nothing`
    INSERT INTO sessions (id, account_id, hash, date_created, last_seen_at, expires_at)
    VALUES (
      ${id}, ${accountId}, ${sql.binary(hash)}, ${sql.timestamp(now)}, ${sql.timestamp(now)},
      ${sql.timestamp(expiresAt)}
    )
  `);
  await tx.query(nothing`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE account_id = ${accountId}
      ORDER BY date_created DESC, id DESC OFFSET ${sessionsMax}
    )
  `);
};

/** Ends the session of a token, if it is one; answers which it was. */
export const deleteSessionByHash = (
  tx: DatabaseTransactionConnection,
  hash: Buffer,
): Promise<{ id: string; accountId: string } | null> =>
  tx.maybeOne(sql.type(SessionRow)`
    DELETE FROM sessions WHERE hash = ${sql.binary(hash)}
    RETURNING id, account_id AS "accountId"
  `);

const FoundSessionRow = AccountRow.extend({
  credentialId: z.string(),
  lastSeenAt: z.date(),
  expiresAt: z.date(),
});

/** Finds a session by the hash of its token, with the account behind it: one round trip. */
export const findSessionByHash = (
  db: CommonQueryMethods,
  hash: Buffer,
): Promise<FoundSession | null> =>
  db.maybeOne(sql.type(FoundSessionRow)`
    SELECT ${accountColumns}, s.id AS "credentialId", s.last_seen_at AS "lastSeenAt",
      s.expires_at AS "expiresAt"
    FROM sessions s JOIN accounts a ON a.id = s.account_id
    WHERE s.hash = ${sql.binary(hash)}
  `);

/** Keeps when sessions were last used. Rows are locked in one order, as replicas write the same. */
export const keepSessionUses = async (
  db: CommonQueryMethods,
  uses: readonly CredentialUse[],
): Promise<void> => {
  if (uses.length === 0) return;
  await db.query(nothing`
    WITH used AS (
      SELECT * FROM ${sql.unnest(
        uses.map(({ id, at }) => [id, at.toISOString()]),
        ["text", "timestamptz"],
      )} AS used (id, at)
    ), locked AS (
      SELECT s.id FROM sessions s JOIN used ON used.id = s.id ORDER BY s.id FOR UPDATE OF s
    )
    UPDATE sessions s SET last_seen_at = greatest(s.last_seen_at, used.at)
    FROM used JOIN locked ON locked.id = used.id WHERE s.id = used.id
  `);
};

/** Deletes at most so many sessions that are past their absolute end; answers how many. */
export const deleteEndedSessions = async (
  db: CommonQueryMethods,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(nothing`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
