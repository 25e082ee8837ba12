import { sql } from "slonik";
import * as z from "zod";
import { Amount, DepositStatus, Mode, depositDecisions } from "@payment-links/contracts";
import {
  type Db,
  VoidRow,
  type Transaction,
  createJsonRecordset,
  defineTable,
  sqlVoid,
} from "@payment-links/postgres";
import {
  type Deposit,
  type DepositDecision,
  type ObservedDeposit,
  type LikelyLink,
  getLatestArrival,
} from "../domain/deposit.ts";
import { LinkRow } from "./links.ts";

const DepositRow = z.object({
  id: z.string(),
  userId: z.string(),
  mode: Mode,
  version: z.int(),
  status: DepositStatus,
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  payer: z.string().nullable(),
  sourceTransaction: z.string(),
  occurredAt: z.date(),
  firstSeenAt: z.date(),
  returnedAt: z.date().nullable(),
  orphanChangePublishedAt: z.date().nullable(),
  decision: z.enum(depositDecisions),
  decidedAt: z.date().nullable(),
  linkId: z.string().nullable(),
  paymentId: z.string().nullable(),
}) satisfies z.ZodType<Deposit>;

const { columns: depositColumns } = defineTable(DepositRow);

const ObservedRow = DepositRow.omit({
  userId: true,
  mode: true,
  decision: true,
  decidedAt: true,
  linkId: true,
  paymentId: true,
});
const observedTable = defineTable(ObservedRow);

const newestFirst = sql.fragment`first_seen_at DESC, id DESC`;

/** Locks the rows of deposits for all accounts, in a fixed order. */
export const lockDeposits = (
  tx: Transaction,
  depositIds: readonly string[],
): Promise<readonly Deposit[]> =>
  tx.any(sql.type(DepositRow)`
    SELECT ${depositColumns} FROM deposits WHERE id = ANY (${sql.array([...depositIds], "text")})
    ORDER BY id, user_id FOR UPDATE
  `);

type OwnDeposit = { depositId: string; userId: string };

/**
 * Locks one of an account's deposits. Returns undefined if the account does not have a deposit with
 * this id.
 */
export const lockOwnDeposit = async (
  tx: Transaction,
  { depositId, userId }: OwnDeposit,
): Promise<Deposit | undefined> =>
  (await tx.maybeOne(sql.type(DepositRow)`
    SELECT ${depositColumns} FROM deposits WHERE id = ${depositId} AND user_id = ${userId} FOR UPDATE
  `)) ?? undefined;

/**
 * The number of accounts for which a deposit is copied immediately. It is limited because anyone
 * can claim an address.
 */
const eagerCopiesMax = 20;

/** The user id of a shared row, which every account at the address can copy. */
const sharedUserId = sql.fragment`''`;

/**
 * Matches chains that can have deposits. Bitcoin does not have deposits, because each link has its
 * own address.
 */
const canHaveDeposits = sql.fragment`chain_id NOT LIKE '%bitcoin%'`;

/**
 * Inserts each deposit for the first accounts at its address. If there are more accounts, also
 * inserts a shared row, which {@link copySharedDeposits} copies for the others. Returns the rows of
 * accounts that were inserted.
 */
export const insertDeposits = async (
  tx: Transaction,
  deposits: readonly ObservedDeposit[],
  now: Date,
): Promise<readonly Deposit[]> => {
  if (deposits.length === 0) return [];
  const insertedDeposits = await tx.any(sql.type(DepositRow)`
    INSERT INTO deposits (${observedTable.names}, user_id, mode, shared_at)
    SELECT incoming.*, paid.user_id, paid.mode, paid.shared_at
    FROM (${observedTable.rows(deposits)}) AS incoming
    CROSS JOIN LATERAL (
      (
        SELECT user_id, mode, NULL::timestamptz AS shared_at FROM paid_addresses
        WHERE chain_id = incoming.chain_id AND address = incoming.destination_address
          AND ${canHaveDeposits}
        ORDER BY since, user_id LIMIT ${eagerCopiesMax}
      ) UNION ALL (
        SELECT ${sharedUserId}, mode, ${sql.timestamp(now)} FROM paid_addresses
        WHERE chain_id = incoming.chain_id AND address = incoming.destination_address
          AND ${canHaveDeposits}
        OFFSET ${eagerCopiesMax} LIMIT 1
      )
    ) AS paid
    ON CONFLICT DO NOTHING
    RETURNING ${depositColumns}
  `);
  return insertedDeposits.filter(isOwned);
};

/** Returns whether a row belongs to an account. A shared row does not. */
export const isOwned = ({ userId }: Pick<Deposit, "userId">): boolean => userId !== "";

/** The maximum number of shared rows that one call reads for each address. */
const copyBatchMax = 2_000;

/**
 * Copies settled deposits from the shared rows of an account's addresses to the account. Skips rows
 * that another transaction is changing, because the change makes them newer, so a later call reads
 * them. Rereads the last minute, because a row can become visible after a newer one.
 */
export const copySharedDeposits = async (db: Db, userId: string): Promise<void> => {
  await db.query(sql.prepared("copy_shared_deposits", VoidRow)`
    WITH own AS MATERIALIZED (
      SELECT chain_id, address, mode, greatest(since, copied_to - interval '1 minute') AS from_time
      FROM paid_addresses WHERE user_id = ${userId} AND ${canHaveDeposits}
    ), offered AS MATERIALIZED (
      SELECT deposits.*, own.mode AS own_mode FROM own CROSS JOIN LATERAL (
        SELECT * FROM deposits
        WHERE user_id = ${sharedUserId} AND chain_id = own.chain_id AND destination_address = own.address
          AND shared_at >= own.from_time
        ORDER BY shared_at LIMIT ${copyBatchMax} FOR SHARE SKIP LOCKED
      ) AS deposits
    ), copied AS (
      INSERT INTO deposits (${observedTable.names}, user_id, mode)
      SELECT ${observedTable.names}, ${userId}, own_mode FROM offered WHERE status = 'settled'
      ON CONFLICT DO NOTHING
    ), reached AS (
      SELECT chain_id, destination_address AS address, max(shared_at) AS shared_at
      FROM offered GROUP BY 1, 2
    ), behind AS (
      SELECT chain_id, address, reached.shared_at
      FROM paid_addresses JOIN reached USING (chain_id, address)
      WHERE user_id = ${userId} AND (copied_to IS NULL OR copied_to < reached.shared_at)
      FOR UPDATE OF paid_addresses SKIP LOCKED
    )
    UPDATE paid_addresses SET copied_to = behind.shared_at FROM behind
    WHERE paid_addresses.user_id = ${userId} AND paid_addresses.chain_id = behind.chain_id
      AND paid_addresses.address = behind.address
  `);
};

/** Updates the reported state of deposits for every account. Their rows must be locked. */
export const updateDepositStates = async (
  tx: Transaction,
  deposits: readonly ObservedDeposit[],
  now: Date,
): Promise<void> => {
  if (deposits.length === 0) return;
  await tx.query(sqlVoid`
    UPDATE deposits SET version = greatest(deposits.version, incoming.version),
      status = incoming.status, amount = incoming.amount, payer = incoming.payer,
      occurred_at = incoming.occurred_at, returned_at = incoming.returned_at,
      orphan_change_published_at = incoming.orphan_change_published_at,
      shared_at = CASE WHEN deposits.user_id = ${sharedUserId} THEN ${sql.timestamp(now)} END
    FROM (${observedTable.rows(deposits)}) AS incoming
    WHERE deposits.id = incoming.id
  `);
};

/** Updates an account's decision about a deposit. The row must be locked. */
export const updateDepositDecision = async (tx: Transaction, deposit: Deposit): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE deposits SET decision = ${deposit.decision},
      decided_at = ${deposit.decidedAt?.toISOString() ?? null}, link_id = ${deposit.linkId},
      payment_id = ${deposit.paymentId}
    WHERE id = ${deposit.id} AND user_id = ${deposit.userId}
  `);
};

/**
 * Lists a page of an account's deposits with one decision. Orphaned deposits are omitted if they
 * are undecided.
 */
export const listDeposits = (
  db: Db,
  page: { userId: string; mode: Mode; decision: DepositDecision; offset: number; limit: number },
): Promise<readonly Deposit[]> =>
  db.any(sql.type(DepositRow)`
    SELECT ${depositColumns} FROM deposits
    WHERE user_id = ${page.userId} AND mode = ${page.mode} AND decision = ${page.decision}
      AND (decision <> 'unmatched' OR status <> 'orphaned')
    ORDER BY ${newestFirst} LIMIT ${page.limit} OFFSET ${page.offset}
  `);

/** Lists an account's deposits that are older than a given one, newest first. */
export const listDepositsAfter = (
  db: Db,
  query: {
    userId: string;
    mode: Mode;
    decision: DepositDecision | undefined;
    last: Deposit | undefined;
    limit: number;
  },
): Promise<readonly Deposit[]> => {
  const { decision, last, limit, mode, userId } = query;
  const condition = sql.and([
    sql.fragment`user_id = ${userId} AND mode = ${mode}`,
    decision && sql.fragment`decision = ${decision}`,
    last && sql.fragment`(first_seen_at, id) < (${sql.timestamp(last.firstSeenAt)}, ${last.id})`,
  ]);
  return db.any(sql.type(DepositRow)`
    SELECT ${depositColumns} FROM deposits WHERE ${condition}
    ORDER BY ${newestFirst} LIMIT ${limit}
  `);
};

const LikelyLinkRow = LinkRow.pick({
  id: true,
  toAmount: true,
  receivedAmount: true,
  createdAt: true,
  description: true,
});
const likelyLinkTable = defineTable(LikelyLinkRow, { from: "active" });
const LikelyRow = LikelyLinkRow.extend({ depositId: z.string(), isOfSender: z.boolean() });

const arrivedRows = createJsonRecordset(
  ObservedRow.pick({
    id: true,
    chainId: true,
    tokenAddress: true,
    destinationAddress: true,
    payer: true,
  }).extend({ arrivedUntil: z.date() }),
);

/** The maximum number of active links that are scanned with an expiry, and also without one. */
const scannedLinksMax = 200;

/**
 * Lists an owner's active links of a mode that deposits may be meant for. These have the same token
 * and destination as the deposit and were created no later than it. Scans a limited number of
 * links: the newest ones without an expiry, and the ones that expire first.
 */
export const listLikelyLinks = (
  db: Db,
  {
    deposits,
    mode,
    now,
    userId,
  }: { deposits: readonly Deposit[]; mode: Mode; now: Date; userId: string },
): Promise<readonly (LikelyLink & { depositId: string })[]> => {
  const rows = deposits.map((deposit) => ({
    ...deposit,
    arrivedUntil: getLatestArrival(deposit),
  }));
  const ownActiveLinks = sql.fragment`
    SELECT * FROM links WHERE user_id = ${userId} AND mode = ${mode} AND status = 'active'
  `;
  return db.any(sql.type(LikelyRow)`
    WITH active AS MATERIALIZED (
      (${ownActiveLinks} AND expires_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT ${scannedLinksMax})
      UNION ALL
      (${ownActiveLinks} AND expires_at > ${sql.timestamp(now)} ORDER BY expires_at LIMIT ${scannedLinksMax})
    )
    SELECT incoming.id AS "depositId", ${likelyLinkTable.columns}, EXISTS (
        SELECT FROM deposits
        WHERE user_id = ${userId} AND mode = ${mode} AND decision = 'assigned' AND payer = incoming.payer
          AND link_id = active.id
      ) AS "isOfSender"
    FROM (${arrivedRows(rows)}) AS incoming
    JOIN active ON active.chain_id = incoming.chain_id
      AND active.token_address = incoming.token_address
      AND active.destination_address = incoming.destination_address
      AND active.created_at <= incoming.arrived_until
  `);
};
