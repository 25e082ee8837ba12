import { sql } from "slonik";
import * as z from "zod";
import { Amount, DepositStatus, depositDecisions } from "@payment-links/contracts";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import type { Deposit, DepositDecision, HeardDeposit, LikelyLink } from "../domain/deposit.ts";

const DepositRow = z.object({
  id: z.string(),
  userId: z.string(),
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
  decision: z.enum(depositDecisions),
  decidedAt: z.date().nullable(),
  linkId: z.string().nullable(),
  paymentId: z.string().nullable(),
}) satisfies z.ZodType<Deposit>;

const columns = sql.fragment`
  id, user_id AS "userId", version, status, amount, token_address AS "tokenAddress",
  chain_id AS "chainId", destination_address AS "destinationAddress", payer,
  source_transaction AS "sourceTransaction", occurred_at AS "occurredAt",
  first_seen_at AS "firstSeenAt", returned_at AS "returnedAt", decision,
  decided_at AS "decidedAt", link_id AS "linkId", payment_id AS "paymentId"
`;

const newestFirst = sql.fragment`first_seen_at DESC, id DESC`;

/** Locks what every account has of deposits, in one order. */
export const lockDeposits = (
  tx: Transaction,
  depositIds: readonly string[],
): Promise<readonly Deposit[]> =>
  tx.any(sql.type(DepositRow)`
    SELECT ${columns} FROM deposits WHERE id = ANY (${sql.array([...depositIds], "text")})
    ORDER BY id, user_id FOR UPDATE
  `);

type OwnDeposit = { depositId: string; userId: string };

/** Locks an account's own deposit; undefined if it has none of that id. */
export const lockOwnDeposit = async (
  tx: Transaction,
  { depositId, userId }: OwnDeposit,
): Promise<Deposit | undefined> => {
  const row = await tx.maybeOne(sql.type(DepositRow)`
    SELECT ${columns} FROM deposits WHERE id = ${depositId} AND user_id = ${userId} FOR UPDATE
  `);
  return row ?? undefined;
};

/** Anybody may say that an address is theirs: so many accounts are told of what reaches it. */
const accountsPerAddressMax = 20;

/** Adds deposits for the accounts that are paid at their addresses, those that came there first. */
export const insertDeposits = async (
  tx: Transaction,
  deposits: readonly HeardDeposit[],
): Promise<void> => {
  if (deposits.length === 0) return;
  const rows = deposits.map((one) => [
    one.id,
    one.version,
    one.status,
    one.amount.toFixed(),
    one.tokenAddress,
    one.chainId,
    one.destinationAddress,
    one.payer,
    one.sourceTransaction,
    one.occurredAt.toISOString(),
    one.firstSeenAt.toISOString(),
    one.returnedAt?.toISOString() ?? null,
  ]);
  await tx.query(nothing`
    INSERT INTO deposits (
      id, user_id, version, status, amount, token_address, chain_id, destination_address, payer,
      source_transaction, occurred_at, first_seen_at, returned_at
    )
    SELECT told.id, paid.user_id, told.version, told.status, told.amount, told.token_address,
      told.chain_id, told.destination_address, told.payer, told.source_transaction,
      told.occurred_at, told.first_seen_at, told.returned_at
    FROM ${sql.unnest(rows, insertedTypes)} AS told (
      id, version, status, amount, token_address, chain_id, destination_address, payer,
      source_transaction, occurred_at, first_seen_at, returned_at
    )
    CROSS JOIN LATERAL (
      SELECT user_id FROM paid_addresses
      WHERE chain_id = told.chain_id AND address = told.destination_address
      ORDER BY since, user_id LIMIT ${accountsPerAddressMax}
    ) AS paid
    ON CONFLICT DO NOTHING
  `);
};

const insertedTypes =
  "text int4 text numeric text text text text text timestamptz timestamptz timestamptz".split(" ");

/** Writes what a deposit's chain tells now, for every account that has it. They must be locked. */
export const updateDepositStates = async (
  tx: Transaction,
  deposits: readonly HeardDeposit[],
): Promise<void> => {
  if (deposits.length === 0) return;
  const rows = deposits.map((one) => [
    one.id,
    one.version,
    one.status,
    one.amount.toFixed(),
    one.payer,
    one.occurredAt.toISOString(),
    one.returnedAt?.toISOString() ?? null,
  ]);
  await tx.query(nothing`
    UPDATE deposits SET version = greatest(deposits.version, told.version), status = told.status,
      amount = told.amount, payer = told.payer, occurred_at = told.occurred_at,
      returned_at = told.returned_at
    FROM ${sql.unnest(rows, updatedTypes)}
      AS told (id, version, status, amount, payer, occurred_at, returned_at)
    WHERE deposits.id = told.id
  `);
};

const updatedTypes = "text int4 text numeric text timestamptz timestamptz".split(" ");

/** Writes what was decided of an account's own deposit, which must be locked. */
export const decideDeposit = async (tx: Transaction, deposit: Deposit): Promise<void> => {
  await tx.query(nothing`
    UPDATE deposits SET decision = ${deposit.decision},
      decided_at = ${deposit.decidedAt?.toISOString() ?? null}, link_id = ${deposit.linkId},
      payment_id = ${deposit.paymentId}
    WHERE id = ${deposit.id} AND user_id = ${deposit.userId}
  `);
};

/** A page of an account's deposits of one decision; of the unmatched ones those that are there. */
export const listDeposits = (
  db: Db,
  page: { userId: string; decision: DepositDecision; offset: number; limit: number },
): Promise<readonly Deposit[]> =>
  db.any(sql.type(DepositRow)`
    SELECT ${columns} FROM deposits
    WHERE user_id = ${page.userId} AND decision = ${page.decision}
      AND (decision <> 'unmatched' OR status <> 'orphaned')
    ORDER BY ${newestFirst} LIMIT ${page.limit} OFFSET ${page.offset}
  `);

/** An account's deposits behind one of them, the newest first. */
export const listDepositsBehind = (
  db: Db,
  wanted: {
    userId: string;
    decision: DepositDecision | undefined;
    last: Deposit | undefined;
    limit: number;
  },
): Promise<readonly Deposit[]> => {
  const { decision, last, limit, userId } = wanted;
  const isDecided =
    decision === undefined ? sql.fragment`true` : sql.fragment`decision = ${decision}`;
  const isBehind =
    last === undefined
      ? sql.fragment`true`
      : sql.fragment`(first_seen_at, id) < (${sql.timestamp(last.firstSeenAt)}, ${last.id})`;
  return db.any(sql.type(DepositRow)`
    SELECT ${columns} FROM deposits
    WHERE user_id = ${userId} AND ${isDecided} AND ${isBehind}
    ORDER BY ${newestFirst} LIMIT ${limit}
  `);
};

const LikelyRow = z.object({
  depositId: z.string(),
  id: z.string(),
  toAmount: Amount,
  receivedAmount: Amount,
  createdAt: z.date(),
  description: z.string().nullable(),
  isOfSender: z.boolean(),
});

/** So many of the newest active links are looked at, of those that expire and those that do not. */
const lookedAtMax = 200;

/**
 * The active links of an owner that deposits could be for: of the same token and destination, made
 * before the money came. A bounded part of the newest is looked at.
 */
export const listLikelyLinks = (
  db: Db,
  { deposits, now, userId }: { deposits: readonly Deposit[]; now: Date; userId: string },
): Promise<readonly (LikelyLink & { depositId: string })[]> => {
  const rows = deposits.map((one) => [
    one.id,
    one.chainId,
    one.tokenAddress,
    one.destinationAddress,
    one.payer,
    one.occurredAt.toISOString(),
  ]);
  const own = sql.fragment`
    SELECT * FROM links WHERE user_id = ${userId} AND status = 'active'
  `;
  return db.any(sql.type(LikelyRow)`
    WITH active AS MATERIALIZED (
      (${own} AND expires_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT ${lookedAtMax})
      UNION ALL
      (${own} AND expires_at > ${sql.timestamp(now)} ORDER BY expires_at LIMIT ${lookedAtMax})
    )
    SELECT told.id AS "depositId", active.id, active.to_amount AS "toAmount",
      active.received_amount AS "receivedAmount", active.created_at AS "createdAt",
      active.description, EXISTS (
        SELECT FROM deposits
        WHERE user_id = ${userId} AND decision = 'assigned' AND payer = told.payer
          AND link_id = active.id
      ) AS "isOfSender"
    FROM ${sql.unnest(rows, ["text", "text", "text", "text", "text", "timestamptz"])}
      AS told (id, chain_id, token_address, destination_address, payer, occurred_at)
    JOIN active ON active.chain_id = told.chain_id AND active.token_address = told.token_address
      AND active.destination_address = told.destination_address
      AND active.created_at <= told.occurred_at
  `);
};
