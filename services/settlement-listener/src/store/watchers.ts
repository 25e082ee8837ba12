import * as z from "zod";
import { sql } from "slonik";
import { Int8, type Pool, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import { deleteReadSpansUpTo } from "./read-spans.ts";

/**
 * The right to write for a chain. It is valid until another leader takes the next fencing token.
 */
export type Leadership = { chainId: string; token: string };

/** Another process has become the chain's leader, so nothing was written. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/**
 * The checkpoint has moved since it was read, so nothing was written. This happens if a commit
 * takes effect after its caller gave up waiting and the next step started.
 */
export class CheckpointMovedError extends Error {
  override readonly name = "CheckpointMovedError";
}

const reportStates = ["watching", "catching_up", "refused", "unreachable"] as const;

/** The leader's last report about its chain, for operators. */
export type WatchReport = {
  state: (typeof reportStates)[number];
  reason: string | null;
  head: number | null;
};

const TokenRow = z.object({ token: z.string() });

const LeaseRow = z.object({ leaseUntil: z.date() });

/**
 * Returns when a chain's lease expires, by the clock of its leader. Null if the chain never had a
 * leader. Does not lock the row, because the leader often holds its lock.
 */
export const readLeaseUntil = async (pool: Pool, chainId: string): Promise<Date | null> => {
  const row = await pool.maybeOne(sql.type(LeaseRow)`
    SELECT lease_until AS "leaseUntil" FROM watchers WHERE chain_id = ${chainId}
  `);
  return row?.leaseUntil ?? null;
};

/**
 * Acquires the leadership of a chain that has no leader, or whose lease has expired at `now`. Also
 * takes over the lease that expires at `left`, which its leader no longer renews. Returns undefined
 * if another process is the leader.
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

/**
 * Renews a leadership and stores the leader's report. Returns false if another process has become
 * the leader.
 */
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

/** Releases a leadership, so that another process can take it immediately. */
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
 * Locks the leadership. Every transaction that writes for a chain must start with this or with
 * {@link moveCheckpoint}. No other process can write for the chain until the transaction ends.
 * Throws {@link LeadershipLostError} if another process has become the leader.
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
  if (row === null) throw new LeadershipLostError(`another process now watches chain ${chainId}`);
};

const ProgressRow = z.object({
  firstBlock: Int8.nullable(),
  scannedTo: Int8.nullable(),
  finalizedTo: Int8.nullable(),
  auditedTo: Int8.nullable(),
  haltedReason: z.string().nullable(),
});

const WatchProgress = ProgressRow.extend({
  scannedHash: z.string().nullable(),
  scannedMinedAt: z.date().nullable(),
  finalizedMinedAt: z.date().nullable(),
  advanceDueAt: z.date().nullable(),
});
/** How far a chain has been watched. All fields are null before the first step. */
export type WatchProgress = z.output<typeof WatchProgress>;

const { columns: progressColumns } = defineTable(ProgressRow);

/** Returns how far a chain has been watched. Throws if the chain never had a leader. */
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

/**
 * The last scanned and the last final block of a chain. Both are null before its watch has started.
 */
type Checkpoint = Pick<WatchProgress, "scannedTo" | "finalizedTo">;

/**
 * Moves a chain's checkpoint. Call it at the start of the transaction. The first checkpoint also
 * sets the chain's first block. Audited blocks above the final block count as not audited. No other
 * process can write for the chain until the transaction ends. Throws {@link LeadershipLostError}
 * like {@link lockLeadership}, and {@link CheckpointMovedError} if the checkpoint has moved since
 * it was read.
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

/**
 * Saves the block at which a chain's watch will start, if the watch has not started yet. A lower
 * stored block is kept.
 */
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

/**
 * Saves up to which block a chain has been audited, and deletes the read spans up to that block.
 */
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

/** Halts a chain until an operator resumes it (README, "Operating a chain"). */
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
 * Resets a chain's progress. The watch restarts at a block and reads everything after it. The
 * leader stays the same.
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
 * Locks a halted chain, so that its leader cannot write until the transaction ends. Returns the
 * last scanned block, or undefined if the chain is not halted.
 */
export const lockHaltedChain = async (
  tx: Transaction,
  chainId: string,
): Promise<{ scannedTo: number } | undefined> =>
  (await tx.maybeOne(sql.type(HaltedRow)`
    SELECT scanned_to AS "scannedTo" FROM watchers
    WHERE chain_id = ${chainId} AND halted_reason IS NOT NULL
    FOR NO KEY UPDATE
  `)) ?? undefined;

const HaltedRow = z.object({ scannedTo: Int8 });

const WatcherRow = ProgressRow.extend({
  chainId: z.string(),
  token: z.string(),
  head: Int8.nullable(),
  state: z.enum(reportStates),
  reason: z.string().nullable(),
  orphanedSettledCount: z.int(),
});
/** A chain's row, for the operator's status. */
export type WatcherRow = z.output<typeof WatcherRow>;

/** Counting stops at this number, because each of these payments has already raised an alert. */
const orphanedCountMax = 100;

/** Lists every chain that was ever watched, with its leader's last report. */
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
