import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import {
  type OutgoingEvent,
  type RepublishSource,
  buildOutboxInsert,
  toOutboxRow,
  createOutgoingEvent,
} from "@payment-links/bus";
import {
  type Account,
  Amount,
  LinkStatus,
  LinkTexts,
  Mode,
  linkSnapshot,
} from "@payment-links/contracts";
import {
  type Db,
  VoidRow,
  type Pool,
  type Transaction,
  createJsonRecordset,
  defineTable,
  sqlVoid,
  withStatementTimeout,
  transact,
} from "@payment-links/postgres";
import { type Link, toLinkState } from "../domain/link.ts";
import { buildAccountUpsert } from "./accounts.ts";

/** A row with the state of a link. */
export const LinkRow = z.object({
  id: z.string(),
  userId: z.string(),
  mode: Mode,
  version: z.int(),
  status: LinkStatus,
  toAmount: Amount,
  receivedAmount: Amount,
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  ...LinkTexts.shape,
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  deactivatedAt: z.date().nullable(),
  walletId: z.string(),
  walletProvider: z.string().nullable(),
  destinationAddress: z.string(),
  tokenId: z.string(),
  chainId: z.string(),
  tokenAddress: z.string(),
  paymentReference: z.string(),
  lastTransactionId: z.string().nullable(),
}) satisfies z.ZodType<Link>;

const MarkedRow = z.object({ count: z.int(), until: z.date().nullable() });

const MarkedUntilRow = z.object({ markedTo: z.date() });

const { columns: linkColumns } = defineTable(LinkRow, { from: "links" });

/**
 * A new link with the API key or session that created it, and its event. If a person created it,
 * there is also an audit event. `ownerToStore` is the owner's state if this process has not stored
 * it yet.
 */
export type NewLink = {
  link: Link;
  createdBy: string;
  event: OutgoingEvent;
  auditEvent: OutgoingEvent | undefined;
  ownerToStore: Account | undefined;
};

/**
 * Inserts a new link and its event, and the owner's state if given. It uses one statement, which
 * takes one round trip and one commit. The event does not need a lock, because other transactions
 * cannot see the link before the commit. The owner's state is not stored as a snapshot, because it
 * may be older than a state that was received after it had been fetched.
 */
export const insertLink = async (
  db: Db,
  { link, createdBy, event, auditEvent, ownerToStore }: NewLink,
): Promise<void> => {
  const statementName = auditEvent === undefined ? "insert_link" : "insert_persons_link";
  const preparedName = ownerToStore === undefined ? statementName : `${statementName}_with_owner`;
  const auditCte =
    auditEvent === undefined
      ? sql.fragment``
      : sql.fragment`audit_event AS (${buildOutboxInsert([auditEvent])}),`;
  const latestPublished = { publishedAt: link.createdAt, versionsRestartedAt: null };
  const ownerCte =
    ownerToStore === undefined
      ? sql.fragment``
      : sql.fragment`owner AS (${buildAccountUpsert(ownerToStore, latestPublished)}),`;
  const row = toOutboxRow(event);
  // All values are in one template, because slonik rewrites the text of a fragment on every call.
  await db.query(sql.prepared(preparedName, VoidRow)`
    WITH ${ownerCte} ${auditCte} link AS (
      INSERT INTO links (
        id, user_id, version, status, to_amount, max_usage, description, created_at, expires_at,
        wallet_id, wallet_provider, destination_address, token_id, chain_id, token_address,
        payment_reference, created_by, mode, updated_at
      ) VALUES (
        ${link.id}, ${link.userId}, ${link.version}, ${link.status}, ${link.toAmount.toFixed()},
        ${link.maxUsage}, ${link.description}, ${link.createdAt.toISOString()},
        ${link.expiresAt?.toISOString() ?? null}, ${link.walletId}, ${link.walletProvider},
        ${link.destinationAddress}, ${link.tokenId}, ${link.chainId}, ${link.tokenAddress},
        ${link.paymentReference}, ${createdBy}, ${link.mode}, ${link.createdAt.toISOString()}
      )
    )
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value) VALUES (
      ${row.id}, ${row.topic}, ${row.key}, ${row.type}, ${row.occurredAt}, ${row.traceparent},
      ${row.value}
    )
  `);
};

const idRows = createJsonRecordset(LinkRow.pick({ id: true }));

/**
 * Locks links until the transaction ends. The result does not contain unknown ids. The links are
 * locked in the order of their ids to prevent deadlocks.
 */
export const lockLinks = async (
  tx: Transaction,
  linkIds: readonly string[],
): Promise<Map<string, Link>> => {
  const ids = [...new Set(linkIds)].toSorted().map((id) => ({ id }));
  const rows = await tx.any(sql.prepared("lock_links", LinkRow)`
    SELECT ${linkColumns} FROM (${idRows(ids)}) AS wanted CROSS JOIN LATERAL (
      SELECT * FROM links WHERE id = wanted.id LIMIT 1 FOR UPDATE
    ) AS links
  `);
  return new Map(rows.map((row) => [row.id, row]));
};

/**
 * Builds the expression for the time of a change. Each change of a link has a later time than the
 * one before, even if a clock is behind.
 */
const buildUpdatedAt = (changedAt: FragmentSqlToken) =>
  sql.fragment`greatest(${changedAt}, links.updated_at + interval '1 microsecond')`;

/**
 * Builds the `UPDATE` that stores the mutable columns of links that changed at `now`. Each link
 * must be given only once, and its row must be locked by this transaction. The ids are in a
 * subquery, so that Postgres uses the same plan for any number of ids.
 */
export const buildLinksUpdate = (links: readonly Link[], now: Date) => {
  const ids = links.map(({ id }) => id);
  const changedAt = sql.fragment`${now.toISOString()}::timestamptz`;
  return sql.fragment`
    UPDATE links SET ${mutableColumns}, updated_at = ${buildUpdatedAt(changedAt)} FROM (${mutableRows(links)}) AS new
    WHERE links.id = new.id AND links.id = ANY ((SELECT ${sql.array(ids, "text")})::text[])
  `;
};

const MutableRow = LinkRow.pick({
  version: true,
  status: true,
  receivedAmount: true,
  currentUsage: true,
  deactivatedAt: true,
  lastTransactionId: true,
});
const mutableColumns = defineTable(MutableRow).assignFrom("new");
const mutableRows = createJsonRecordset(MutableRow.extend({ id: z.string() }));

/** Stores the mutable columns of a link ({@link buildLinksUpdate}). */
export const updateLink = async (tx: Transaction, link: Link, now: Date): Promise<void> => {
  await tx.query(sql.prepared("update_link", VoidRow)`${buildLinksUpdate([link], now)}`);
};

/** Stores that a link expires now, ahead of time. Its row must be locked by this transaction. */
export const updateExpiredLink = async (
  tx: Transaction,
  { id, status, version }: Pick<Link, "id" | "status" | "version">,
  now: Date,
): Promise<void> => {
  const expiresAt = sql.fragment`${sql.timestamp(now)}`;
  await tx.query(sqlVoid`
    UPDATE links SET expires_at = ${expiresAt}, status = ${status}, version = ${version},
      updated_at = ${buildUpdatedAt(expiresAt)}
    WHERE id = ${id}
  `);
};

/**
 * Marks expired links as inactive, beginning with the oldest expiry. Stores the latest marked
 * expiry, and returns it with the number of marked links. This does not publish an event and is not
 * a deactivation: a payment that started before the expiry is still applied. Skips links that a
 * payment has locked. `from` makes the scan skip the dead index entries of links that were marked
 * earlier, which remain until vacuum runs.
 */
export const markExpiredLinks = async (
  db: Db,
  { now, from, linksMax }: { now: Date; from?: Date | undefined; linksMax: number },
): Promise<{ count: number; until: Date | undefined }> => {
  // The link changed when it expired, whenever the job runs.
  const expiredAt = buildUpdatedAt(sql.fragment`links.expires_at`);
  const { count, until } = await db.one(sql.type(MarkedRow)`
    WITH expired AS (
      SELECT id FROM links
      WHERE status = 'active' AND expires_at <= ${sql.timestamp(now)}
        AND expires_at >= ${sql.timestamp(from ?? new Date(0))}
      ORDER BY expires_at LIMIT ${linksMax}
      FOR UPDATE SKIP LOCKED
    ), marked AS (
      UPDATE links SET status = 'inactive', updated_at = ${expiredAt}
      FROM expired WHERE links.id = expired.id
      RETURNING links.expires_at
    ), come AS (
      SELECT count(*)::int4 AS count, max(expires_at) AS until FROM marked
    ), kept AS (
      INSERT INTO link_expiry (marked_to) SELECT until FROM come WHERE until IS NOT NULL
      ON CONFLICT (is_only) DO UPDATE SET marked_to = excluded.marked_to
        WHERE link_expiry.marked_to < excluded.marked_to
    )
    SELECT count, until FROM come
  `);
  return { count, until: until ?? undefined };
};

/**
 * Returns the latest expiry that any process has marked ({@link markExpiredLinks}). Returns null if
 * no link has been marked.
 */
export const readMarkedUntil = async (db: Db): Promise<Date | null> => {
  const row = await db.maybeOne(sql.type(MarkedUntilRow)`
    SELECT marked_to AS "markedTo" FROM link_expiry
  `);
  return row?.markedTo ?? null;
};

/**
 * Reactivates links that a process with a fast clock has marked. These are inactive links that were
 * not deactivated and whose expiry is still in the future, up to `until`. This query does not use
 * an index, because it rarely runs.
 */
export const unmarkExpiredLinks = async (
  pool: Pool,
  { now, until }: { now: Date; until: Date },
): Promise<void> => {
  const unmarkQuery = sqlVoid`
    UPDATE links SET status = 'active', updated_at = ${buildUpdatedAt(sql.fragment`${sql.timestamp(now)}`)}
    WHERE status = 'inactive' AND deactivated_at IS NULL
      AND expires_at > ${sql.timestamp(now)} AND expires_at <= ${sql.timestamp(until)}
  `;
  const updateMarkedUntilQuery = sqlVoid`
    UPDATE link_expiry SET marked_to = ${sql.timestamp(now)} WHERE marked_to > ${sql.timestamp(now)}
  `;
  await transact(pool, async (tx) => {
    // This update runs first. A process with a fast clock waits for it here, so that the marks it
    // makes later are recorded after this update.
    await tx.query(updateMarkedUntilQuery);
    await withStatementTimeout(tx, unmarkTimeoutMs, () => tx.query(unmarkQuery));
  });
};

const unmarkTimeoutMs = 60_000;

/** Republishes the current state of every link as a snapshot (rule EVENT-5). */
export const linkRepublishSource: RepublishSource = {
  resource: "payment-links",
  table: "links",
  column: "id",
  readEvents: async (tx, linkIds, now) => {
    const links = await tx.any(sql.type(LinkRow)`
      SELECT ${linkColumns} FROM links WHERE id = ANY (${sql.array([...linkIds], "text")}) ORDER BY id
    `);
    return links.map((link) => {
      const data = { link: toLinkState(link, now) };
      return createOutgoingEvent(linkSnapshot, { key: link.id, occurredAt: now, data });
    });
  },
};
