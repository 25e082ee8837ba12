import * as z from "zod";
import { sql } from "slonik";
import { createAuditEvent, publish, publishAuditEvent } from "@payment-links/bus";
import {
  type Actor,
  type AuditAction,
  type AuditFilter,
  AuditRecord,
  auditActorKinds,
  uuidToId,
  pageSize,
  idToUuid,
} from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";

type OwnAuditEvent = {
  at: Date;
  accountId: string;
  actor: Actor;
  action: AuditAction;
  targetId?: string;
  /** The details that an auditor needs to understand the entry. They never contain a secret. */
  detail?: Record<string, string | number | boolean | null | readonly string[]>;
};

/** Stores and publishes an audit event, in the transaction of the action itself. */
export const insertAudit = async (
  tx: Transaction,
  { actor, ...auditEvent }: OwnAuditEvent,
): Promise<void> => {
  await insertRecords(tx, [await publishAuditEvent(tx, { ...actor, ...auditEvent })]);
};

/** Stores and publishes one audit event of the same kind for each target. */
export const insertAuditForEach = async (
  tx: Transaction,
  { actor, ...auditEvent }: Omit<OwnAuditEvent, "targetId">,
  targetIds: readonly string[],
): Promise<void> => {
  const events = targetIds.map((targetId) =>
    createAuditEvent({ ...actor, ...auditEvent, targetId }),
  );
  await publish(tx, events);
  await insertRecords(
    tx,
    events.map(({ data }) => data),
  );
};

const RecordRow = AuditRecord.omit({ at: true, actor: true }).extend({
  occurredAt: z.date(),
  actorKind: z.string(),
  actorId: z.string().nullable(),
  operator: z.string().nullable(),
});
const recordTable = defineTable(RecordRow, { types: { id: "uuid", detail: "jsonb" } });

/** Inserts entries in order. An entry that already exists stays unchanged. */
export const insertRecords = async (db: Db, records: readonly AuditRecord[]): Promise<void> => {
  if (records.length === 0) return;
  const rows = records.map(({ actor, at, id, ...record }) => ({
    ...record,
    id: idToUuid(id),
    occurredAt: at,
    actorKind: actor.kind,
    actorId: actor.id,
    operator: actor.operator,
  }));
  await db.query(sqlVoid`
    INSERT INTO audit_log (${recordTable.names}) ${recordTable.rows(rows)}
    ON CONFLICT (id) DO NOTHING
  `);
};

const AuditRow = z.object({
  seq: z.string(),
  uuid: z.string(),
  at: z.date(),
  action: z.string(),
  kind: z.enum(auditActorKinds),
  actorId: z.string().nullable(),
  operator: z.string().nullable(),
  targetId: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  method: z.string().nullable(),
});

/** An entry of one account with its sequence number, which pagination uses. */
type StoredRecord = Omit<AuditRecord, "accountId"> & { seq: string };

const toRecord = (row: z.output<typeof AuditRow>): StoredRecord => {
  const { actorId: id, kind, operator, uuid, ...recordFields } = row;
  return { ...recordFields, id: uuidToId("aud", uuid), actor: { kind, id, operator } };
};

/** The account and the filter that select entries. */
export type AuditSelection = { accountId: string; filter: AuditFilter };

/** Lists one page of an account's entries, newest first, plus one entry if more follow. */
export const listAudit = async (
  db: Db,
  { offset, ...selection }: AuditSelection & { offset: number },
): Promise<readonly StoredRecord[]> => {
  const rows = await db.any(sql.type(AuditRow)`
    SELECT ${columns} FROM audit_log WHERE ${buildConditions(selection)}
    ORDER BY seq DESC LIMIT ${pageSize + 1} OFFSET ${offset}
  `);
  return rows.map(toRecord);
};

/** A batch is small enough that formatting it does not delay other requests. */
const batchRowsMax = 250;

/** Reads the next batch of entries before `beforeSeq`, newest first. */
export const readAuditBatch = async (
  db: Db,
  { beforeSeq, ...selection }: AuditSelection & { beforeSeq: string | undefined },
): Promise<readonly StoredRecord[]> => {
  const beforeCondition =
    beforeSeq === undefined ? sql.fragment`true` : sql.fragment`seq < ${beforeSeq}::int8`;
  const rows = await db.any(sql.type(AuditRow)`
    SELECT ${columns} FROM audit_log WHERE ${buildConditions(selection)} AND ${beforeCondition}
    ORDER BY seq DESC LIMIT ${batchRowsMax}
  `);
  return rows.map(toRecord);
};

const FullRow = AuditRow.extend({ accountId: z.string(), isOld: z.boolean() });

/**
 * Lists entries of all accounts after `afterSeq`, ordered by sequence number. Stops before the
 * first entry of the last minute, because a transaction with a lower number may still commit.
 * `written_at` is the start of an entry's transaction, so older entries can follow a recent one.
 */
export const listAllAudit = async (
  db: Db,
  { afterSeq, rowsMax }: { afterSeq: string; rowsMax: number },
): Promise<readonly (AuditRecord & { seq: string })[]> => {
  const rows = await db.any(sql.type(FullRow)`
    SELECT account_id AS "accountId", ${columns},
      written_at < now() - interval '1 minute' AS "isOld"
    FROM audit_log WHERE seq > ${afterSeq}::int8 ORDER BY seq LIMIT ${rowsMax}
  `);
  const firstRecentIndex = rows.findIndex(({ isOld }) => !isOld);
  const settledRows = firstRecentIndex === -1 ? rows : rows.slice(0, firstRecentIndex);
  return settledRows.map(({ accountId, isOld: _isOld, ...row }) => ({
    ...toRecord(row),
    accountId,
  }));
};

const CountRow = z.object({ count: z.int() });

/** Counts the selected entries, up to `countMax`. */
export const countAudit = (db: Db, selection: AuditSelection, countMax: number): Promise<number> =>
  db.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM (
      SELECT FROM audit_log WHERE ${buildConditions(selection)} LIMIT ${countMax}
    ) AS wanted
  `);

const buildConditions = ({ accountId, filter }: AuditSelection) => {
  const { action, actor, from, target, to } = filter;
  return sql.and([
    sql.fragment`account_id = ${accountId}`,
    action !== undefined &&
      sql.fragment`(action = ${action} OR starts_with(action, ${`${action}.`}))`,
    actor !== undefined && sql.fragment`(actor_id = ${actor} OR actor_kind = ${actor})`,
    target !== undefined && sql.fragment`target_id = ${target}`,
    from && sql.fragment`occurred_at >= ${sql.timestamp(from)}`,
    to && sql.fragment`occurred_at < ${sql.timestamp(to)}`,
  ]);
};

const { columns } = defineTable(AuditRow, {
  expressions: {
    uuid: sql.fragment`id`,
    at: sql.fragment`occurred_at`,
    kind: sql.fragment`actor_kind`,
  },
});

/**
 * Deletes those of the `rowsMax` oldest entries that are from before the given time. Returns how
 * many were deleted. The table itself rejects the deletion of entries that were stored less than 30
 * days ago.
 */
export const deleteAuditBefore = async (
  db: Db,
  { before, rowsMax }: { before: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM audit_log WHERE seq IN (
      SELECT seq FROM (
        SELECT seq, occurred_at, written_at FROM audit_log ORDER BY seq LIMIT ${rowsMax}
      ) AS oldest
      WHERE occurred_at < ${sql.timestamp(before)} AND written_at <= now() - interval '30 days'
    )
  `);
  return rowCount;
};
