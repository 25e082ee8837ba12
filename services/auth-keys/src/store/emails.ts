import * as z from "zod";
import { sql } from "slonik";
import type { NotificationKind } from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import {
  type EmailContent,
  type EmailKind,
  type SummaryCounts,
  confirmationsPerAccountMax,
  confirmationsPerAddressMax,
  emailRetentionMs,
  emailsPerHourMax,
  hourMs,
  isNotificationKind,
  startOfHour,
  summaryDelayMs,
} from "../domain/email.ts";
import { lockNotificationSettings } from "./notification-settings.ts";

const CountRow = z.object({ count: z.int() });

type NewEmail = {
  /** The id of the event. An email with the same id is queued only once. */
  id: string;
  accountId: string;
  kind: EmailKind;
  content: EmailContent;
  status?: "pending" | "summarized";
  now: Date;
  /** When the email is due. Default: now. */
  dueAt?: Date;
};

/** Adds an email to the queue. Returns false if it already exists. */
const insertEmail = async (
  tx: Transaction,
  { id, accountId, kind, content, status = "pending", now, dueAt = now }: NewEmail,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sqlVoid`
    INSERT INTO emails (id, account_id, kind, content, status, date_created, next_attempt_at)
    VALUES (
      ${id}, ${accountId}, ${kind}, ${JSON.stringify(content)}, ${status}, ${sql.timestamp(now)},
      ${sql.timestamp(dueAt)}
    )
    ON CONFLICT (id) DO NOTHING
  `);
  return rowCount > 0;
};

export type Notification = {
  id: string;
  accountId: string;
  kind: NotificationKind;
  content: EmailContent;
};

/**
 * Queues the email of a notification if the account has a confirmed address and the kind is on.
 * Above the limit of the hour, the email is not sent, and a summary at the end of the hour names it.
 */
export const queueNotification = async (
  tx: Transaction,
  { id, accountId, kind, content }: Notification,
  now: Date,
): Promise<void> => {
  const settings = await lockNotificationSettings(tx, accountId);
  if (settings === undefined || settings.address === null) return;
  if (settings.disabledKinds.includes(kind)) return;
  const hour = startOfHour(now);
  const { count } = await tx.one(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM (
      SELECT FROM emails
      WHERE account_id = ${accountId} AND kind = ${kind} AND date_created >= ${sql.timestamp(hour)}
      LIMIT ${emailsPerHourMax}
    ) AS recent
  `);
  const isAboveLimit = count >= emailsPerHourMax;
  const status = isAboveLimit ? "summarized" : "pending";
  const isNew = await insertEmail(tx, { id, accountId, kind, content, status, now });
  if (!isNew || !isAboveLimit) return;
  await insertEmail(tx, {
    id: `summary_${accountId}_${hour.getTime()}`,
    accountId,
    kind: "summary",
    content: { type: "summary", hour: hour.toISOString() },
    now,
    dueAt: new Date(hour.getTime() + hourMs + summaryDelayMs),
  });
};

/**
 * Queues the email that confirms an address. Returns false if the account or the address already
 * has the maximum number of them, so that no one can flood an address with them.
 */
export const queueConfirmation = async (
  tx: Transaction,
  { id, accountId, address, now }: { id: string; accountId: string; address: string; now: Date },
): Promise<boolean> => {
  const lockKey = JSON.stringify(["confirmation", address.toLowerCase()]);
  await tx.query(sqlVoid`SELECT FROM pg_advisory_xact_lock(hashtextextended(${lockKey}, 0))`);
  const hourAgo = sql.timestamp(new Date(now.getTime() - hourMs));
  const dayAgo = sql.timestamp(new Date(now.getTime() - 24 * hourMs));
  const counts = await tx.one(sql.type(z.object({ ofAccount: z.int(), ofAddress: z.int() }))`
    SELECT
      (SELECT count(*)::int FROM emails
       WHERE account_id = ${accountId} AND kind = 'address_confirmation'
         AND date_created > ${hourAgo}) AS "ofAccount",
      (SELECT count(*)::int FROM emails
       WHERE lower(content ->> 'address') = ${address.toLowerCase()}
         AND kind = 'address_confirmation' AND date_created > ${dayAgo}) AS "ofAddress"
  `);
  if (counts.ofAccount >= confirmationsPerAccountMax) return false;
  if (counts.ofAddress >= confirmationsPerAddressMax) return false;
  const content = { type: "address_confirmation", address } as const;
  await insertEmail(tx, { id, accountId, kind: "address_confirmation", content, now });
  return true;
};

/** Queues the email that informs an address that it gets no more notifications. */
export const queueRemovalNotice = async (
  tx: Transaction,
  { id, accountId, address, now }: { id: string; accountId: string; address: string; now: Date },
): Promise<void> => {
  const content = { type: "address_removed", address } as const;
  await insertEmail(tx, { id, accountId, kind: "address_removed", content, now });
};

const ClaimedRow = z.object({
  id: z.string(),
  accountId: z.string(),
  kind: z.string(),
  /** Not validated here, because one unreadable row would make the whole claim fail. */
  content: z.unknown(),
  attempts: z.int(),
  dateCreated: z.date(),
});
/** An email that one process is sending. `attempts` includes this attempt. */
export type ClaimedEmail = z.output<typeof ClaimedRow>;
const { columns: claimedColumns } = defineTable(ClaimedRow);

/**
 * Claims due emails. They are due again at the end of the lease if the process does not record a
 * result. Skips emails that another process is claiming.
 */
export const claimEmails = (
  db: Db,
  { now, leaseUntil, rowsMax }: { now: Date; leaseUntil: Date; rowsMax: number },
): Promise<readonly ClaimedEmail[]> =>
  db.any(sql.type(ClaimedRow)`
    WITH due AS MATERIALIZED (
      SELECT id FROM emails
      WHERE status = 'pending' AND next_attempt_at <= ${sql.timestamp(now)}
      ORDER BY next_attempt_at LIMIT ${rowsMax} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE emails SET attempts = attempts + 1, next_attempt_at = ${sql.timestamp(leaseUntil)}
    WHERE id = ANY (ARRAY(SELECT id FROM due))
    RETURNING ${claimedColumns}
  `);

/** How an attempt ended. `dropped` means that the address was removed or the kind switched off. */
export type EmailResult =
  | { status: "sent" | "dropped" | "given_up" }
  | { status: "pending"; retryAt: Date };

/** Records how an attempt ended, unless the lease expired and another attempt started. */
export const recordEmailResult = async (
  db: Db,
  { id, attempts }: Pick<ClaimedEmail, "id" | "attempts">,
  result: EmailResult,
): Promise<void> => {
  const retryAt = result.status === "pending" ? result.retryAt.toISOString() : null;
  await db.query(sqlVoid`
    UPDATE emails
    SET status = ${result.status},
      next_attempt_at = coalesce(${retryAt}::timestamptz, next_attempt_at)
    WHERE id = ${id} AND attempts = ${attempts} AND status = 'pending'
  `);
};

/** Counts the emails of an hour that a summary replaces. */
export const countSummarized = async (
  db: Db,
  { accountId, hour }: { accountId: string; hour: Date },
): Promise<SummaryCounts> => {
  const rows = await db.any(sql.type(z.object({ kind: z.string(), count: z.int() }))`
    SELECT kind, count(*)::int AS count FROM emails
    WHERE account_id = ${accountId} AND status = 'summarized'
      AND date_created >= ${sql.timestamp(hour)}
      AND date_created < ${sql.timestamp(new Date(hour.getTime() + hourMs))}
    GROUP BY kind
  `);
  return Object.fromEntries(
    rows.filter(({ kind }) => isNotificationKind(kind)).map(({ kind, count }) => [kind, count]),
  );
};

/** Returns since when the first due email has been due, or undefined if none is due. */
export const findOldestDueAt = async (db: Db, now: Date): Promise<Date | undefined> =>
  (await db.maybeOneFirst(sql.type(z.object({ dueAt: z.date() }))`
    SELECT next_attempt_at AS "dueAt" FROM emails
    WHERE status = 'pending' AND next_attempt_at <= ${sql.timestamp(now)}
    ORDER BY next_attempt_at LIMIT 1
  `)) ?? undefined;

/** Deletes up to `rowsMax` emails that are old enough. Returns how many. */
export const deleteOldEmails = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const before = sql.timestamp(new Date(now.getTime() - emailRetentionMs));
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM emails WHERE id IN (
      SELECT id FROM emails WHERE date_created < ${before} ORDER BY date_created LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
