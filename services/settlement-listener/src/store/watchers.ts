import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import { BlockNumber } from "./block-number.ts";
import { deleteReadSpansUpTo } from "./read-spans.ts";

/** The right to write for a chain: good until another leader takes the next token. */
export type Leadership = { chainId: string; token: string };

/** Another leader has taken the chain, so nothing was written. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/**
 * The checkpoint is not where it was read, so nothing was written. A commit for whose answer nobody
 * waits any more can take effect after the next step has begun.
 */
export class CheckpointMovedError extends Error {
  override readonly name = "CheckpointMovedError";
}

const reportStates = ["watching", "catching_up", "refused", "unreachable"] as const;

/** What a leader last said of its chain, for operators. */
export type WatchReport = {
  state: (typeof reportStates)[number];
  reason: string | null;
  head: number | null;
};

const TokenRow = z.object({ token: z.string() });

const LeaseRow = z.object({ leaseUntil: z.date() });

/**
 * Until when a chain is led, by its leader's own clock; null before its first. Asks without a lock, as
 * its leader holds the row often.
 */
export const readLeaseUntil = async (pool: Pool, chainId: string): Promise<Date | null> => {
  const row = await pool.maybeOne(sql.type(LeaseRow)`
    SELECT lease_until AS "leaseUntil" FROM watchers WHERE chain_id = ${chainId}
  `);
  return row?.leaseUntil ?? null;
};

/**
 * Takes the lead of a chain that nobody leads, or whose leader's lease has run out by `now`, or is the
 * one that was seen to be renewed no more.
 */
export const acquireLeadership = async (
  pool: Pool,
  { chainId, left, now, until }: { chainId: string; left?: Date; now: Date; until: Date },
): Promise<Leadership | undefined> => {
  const isFree = (lease: Date) => lease <= now || lease.getTime() === left?.getTime();
  const lease = await readLeaseUntil(pool, chainId);
  if (lease !== null && !isFree(lease)) return undefined;
  const row = await pool.maybeOne(sql.type(TokenRow)`
    INSERT INTO watchers AS kept (chain_id, fencing_token, lease_until)
    VALUES (${chainId}, 1, ${sql.timestamp(until)})
    ON CONFLICT (chain_id) DO UPDATE SET
      fencing_token = kept.fencing_token + 1, lease_until = excluded.lease_until
    WHERE kept.lease_until <= ${sql.timestamp(now)}
      OR kept.lease_until = ${sql.timestamp(left ?? now)}
    RETURNING fencing_token AS token
  `);
  return row === null ? undefined : { chainId, token: row.token };
};

/** Renews a lead and leaves the leader's word. False where another leads by now. */
export const renewLeadership = async (
  pool: Pool,
  { chainId, token }: Leadership,
  { until, report }: { until: Date; report: WatchReport },
): Promise<boolean> => {
  const row = await pool.maybeOne(sql.type(TokenRow)`
    UPDATE watchers SET lease_until = ${sql.timestamp(until)}, head = ${report.head},
      state = ${report.state}, reason = ${report.reason}
    WHERE chain_id = ${chainId} AND fencing_token = ${token}::bigint
    RETURNING fencing_token AS token
  `);
  return row !== null;
};

/** Releases a lead, so that another may take it at once. */
export const releaseLeadership = async (
  pool: Pool,
  { chainId, token }: Leadership,
  now: Date,
): Promise<void> => {
  await pool.query(sqlVoid`
    UPDATE watchers SET lease_until = ${sql.timestamp(now)}
    WHERE chain_id = ${chainId} AND fencing_token = ${token}::bigint
  `);
};

/**
 * Begins every other transaction that writes for a chain. Nobody else writes for it until this one ends.
 * Throws {@link LeadershipLostError} where another has taken the lead since.
 */
export const lockLeadership = async (
  tx: Transaction,
  { chainId, token }: Leadership,
): Promise<void> => {
  const row = await tx.maybeOne(sql.prepared("lock_lead", TokenRow)`
    SELECT fencing_token AS token FROM watchers
    WHERE chain_id = ${chainId} AND fencing_token = ${token}::bigint
    FOR NO KEY UPDATE
  `);
  if (row === null)
    throw new LeadershipLostError(`another process watches chain ${chainId} by now`);
};

const ProgressRow = z.object({
  firstBlock: BlockNumber.nullable(),
  scannedTo: BlockNumber.nullable(),
  finalizedTo: BlockNumber.nullable(),
  auditedTo: BlockNumber.nullable(),
  haltedReason: z.string().nullable(),
});

const WatchProgress = ProgressRow.extend({
  scannedHash: z.string().nullable(),
  scannedMinedAt: z.date().nullable(),
  finalizedMinedAt: z.date().nullable(),
  advanceDueAt: z.date().nullable(),
});
/** How far a chain has been watched; all null before the first step. */
export type WatchProgress = z.output<typeof WatchProgress>;

const progressColumns = sql.fragment`
  first_block AS "firstBlock", scanned_to AS "scannedTo", finalized_to AS "finalizedTo",
  audited_to AS "auditedTo", halted_reason AS "haltedReason"
`;

/** How far a chain has been watched; its lead must have been taken once. */
export const readProgress = (pool: Pool, chainId: string): Promise<WatchProgress> =>
  pool.one(sql.prepared("read_progress", WatchProgress)`
    SELECT ${progressColumns}, scanned.hash AS "scannedHash", scanned.mined_at AS "scannedMinedAt",
      finalized.mined_at AS "finalizedMinedAt", advance_due_at AS "advanceDueAt"
    FROM watchers
    LEFT JOIN chain_blocks AS scanned
      ON scanned.chain_id = watchers.chain_id AND scanned.number = scanned_to
    LEFT JOIN chain_blocks AS finalized
      ON finalized.chain_id = watchers.chain_id AND finalized.number = finalized_to
    WHERE watchers.chain_id = ${chainId}
  `);

/** How far a chain is scanned, and up to where that is final; null before its watch has begun. */
type Checkpoint = Pick<WatchProgress, "scannedTo" | "finalizedTo">;

/**
 * Begins every transaction that moves a chain's checkpoint; the first one is where its watch begins. What
 * lies above it is not audited yet. Nobody else writes for the chain until the transaction ends. Throws
 * {@link LeadershipLostError} as {@link lockLeadership} does, and {@link CheckpointMovedError} where the checkpoint
 * is not where it was read.
 */
export const moveCheckpoint = async (
  tx: Transaction,
  leadership: Leadership,
  from: Checkpoint,
  to: { scannedTo: number; finalizedTo: number },
): Promise<void> => {
  const row = await tx.maybeOne(sql.prepared("move_checkpoint", TokenRow)`
    UPDATE watchers SET scanned_to = ${to.scannedTo}, finalized_to = ${to.finalizedTo},
      first_block = CASE WHEN scanned_to IS NULL THEN ${to.scannedTo} ELSE first_block END,
      audited_to = least(coalesce(audited_to, ${to.finalizedTo}), ${to.finalizedTo})
    WHERE chain_id = ${leadership.chainId} AND fencing_token = ${leadership.token}::bigint
      AND scanned_to IS NOT DISTINCT FROM ${from.scannedTo}::bigint
      AND finalized_to IS NOT DISTINCT FROM ${from.finalizedTo}::bigint
    RETURNING fencing_token AS token
  `);
  if (row !== null) return;
  await lockLeadership(tx, leadership);
  throw new CheckpointMovedError(`the checkpoint of chain ${leadership.chainId} has moved`);
};

/** Saves from where a chain's watch is to begin at the latest, as long as it has not begun. */
export const saveFirstBlock = async (
  tx: Transaction,
  leadership: Leadership,
  firstBlock: number,
): Promise<void> => {
  await lockLeadership(tx, leadership);
  await tx.query(sqlVoid`
    UPDATE watchers SET first_block = ${firstBlock}
    WHERE chain_id = ${leadership.chainId} AND scanned_to IS NULL
      AND coalesce(first_block > ${firstBlock}, true)
  `);
};

/** Saves up to which block a chain has been read a second time: by whom it was read first is done with. */
export const saveAuditProgress = async (
  tx: Transaction,
  chainId: string,
  auditedTo: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE watchers SET audited_to = ${auditedTo} WHERE chain_id = ${chainId}
  `);
  await deleteReadSpansUpTo(tx, chainId, auditedTo);
};

/** Stops a chain until an operator lifts it (README, "Operators"). */
export const haltChain = async (
  tx: Transaction,
  chainId: string,
  reason: string,
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE watchers SET halted_reason = ${reason} WHERE chain_id = ${chainId}
  `);
};

/**
 * Resets how far a chain was watched: its watch begins anew at a block, and reads all that follows
 * it. Its lead stays.
 */
export const resetProgress = async (
  tx: Transaction,
  chainId: string,
  firstBlock: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE watchers SET first_block = ${firstBlock}, scanned_to = NULL, finalized_to = NULL,
      audited_to = least(audited_to, ${firstBlock}), halted_reason = NULL
    WHERE chain_id = ${chainId}
  `);
};

/**
 * Locks a halted chain: its leader writes nothing until the transaction ends. Answers up to which
 * block it had been scanned, or undefined where the chain is not halted.
 */
export const lockHaltedChain = async (
  tx: Transaction,
  chainId: string,
): Promise<{ scannedTo: number } | undefined> => {
  const row = await tx.maybeOne(sql.type(HaltedRow)`
    SELECT scanned_to AS "scannedTo" FROM watchers
    WHERE chain_id = ${chainId} AND halted_reason IS NOT NULL
    FOR NO KEY UPDATE
  `);
  return row ?? undefined;
};

const HaltedRow = z.object({ scannedTo: BlockNumber });

const WatcherRow = ProgressRow.extend({
  chainId: z.string(),
  token: z.string(),
  head: BlockNumber.nullable(),
  state: z.enum(reportStates),
  reason: z.string().nullable(),
  orphanedSettledCount: z.int(),
});
/** A chain as operators are shown it. */
export type WatcherRow = z.output<typeof WatcherRow>;

/** More of them are not counted: each one has alarmed. */
const orphanedCountMax = 100;

/** Every chain that was ever watched, with the last word of whoever leads it. */
export const listWatchers = (pool: Pool): Promise<readonly WatcherRow[]> =>
  pool.any(sql.type(WatcherRow)`
    SELECT ${progressColumns}, watchers.chain_id AS "chainId", fencing_token AS token, head, state,
      reason,
      (
        SELECT count(*)::int FROM (
          SELECT FROM payments WHERE source = chain_source(watchers.chain_id) AND is_orphaned
          LIMIT ${orphanedCountMax}
        ) AS orphaned
      ) AS "orphanedSettledCount"
    FROM watchers ORDER BY chain_id
  `);
