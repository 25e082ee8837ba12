import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import { getChainSource } from "@payment-links/contracts";
import { type Db, type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { StoredTransfer } from "../domain/transfer.ts";
import { TransferRow, transferColumns } from "./transfer-row.ts";

/** A place in the order in which the open payments of a chain are looked through. */
export type OpenTransferCursor = { blockNumber: number; seq: string };

/** An open payment's transfer, and its place. */
export type OpenTransfer = StoredTransfer & { seq: string };

const OpenTransferRow = TransferRow.extend({ seq: z.string() });

/** Deposits are left out unless they are looked for: then receipts tell nothing of them. */
type DepositFilter = { includeDeposits: boolean };

/** A deposit is stored as the payment of a link whose id is the deposit's own. */
const buildDepositFilter = ({ includeDeposits }: DepositFilter): FragmentSqlToken =>
  includeDeposits ? sql.fragment`` : sql.fragment`AND NOT starts_with(payment_link_id, 'dep_')`;

/**
 * The transfers of the payments that wait to be settled up to a block, from behind a place on, the
 * oldest first.
 */
export const listDueTransfers = (
  pool: Pool,
  chainId: string,
  {
    toBlock,
    after,
    countMax,
    includeDeposits,
  }: { toBlock: number; after?: OpenTransferCursor | undefined; countMax: number } & DepositFilter,
): Promise<readonly OpenTransfer[]> => {
  const blockNumber = after?.blockNumber ?? -1;
  return listOpenTransfers(pool, chainId, {
    openPayments: sql.fragment`
      SELECT source_id, seq, payment_link_id, block_number FROM open_payments
      WHERE source = ${getChainSource(chainId)} AND is_processing
        AND block_number BETWEEN ${blockNumber} AND ${toBlock}
        AND (block_number, seq) > (${blockNumber}, ${after?.seq ?? "0"}::bigint)
        ${buildDepositFilter({ includeDeposits })}
      ORDER BY block_number, seq
      LIMIT ${countMax}
    `,
    orderBy: sql.fragment`open.block_number, open.seq`,
  });
};

/**
 * The transfers of payments that a reorg took away before they settled, from behind one on, in the
 * order in which the payments came.
 */
export const listOrphanedTransfers = (
  pool: Db,
  chainId: string,
  { afterSeq, countMax, includeDeposits }: { afterSeq: string; countMax: number } & DepositFilter,
): Promise<readonly OpenTransfer[]> =>
  listOpenTransfers(pool, chainId, {
    openPayments: sql.fragment`
      SELECT source_id, seq, payment_link_id FROM open_payments
      WHERE source = ${getChainSource(chainId)} AND is_processing AND block_number IS NULL
        AND seq > ${afterSeq}::bigint
        ${buildDepositFilter({ includeDeposits })}
      ORDER BY seq
      LIMIT ${countMax}
    `,
    orderBy: sql.fragment`open.seq`,
  });

/**
 * The transfers of open payments whose nonce nobody told so far, from behind one on, in the order in
 * which the payments came.
 */
export const listMissingNonces = (
  pool: Pool,
  chainId: string,
  { afterSeq, countMax }: { afterSeq: string; countMax: number },
): Promise<readonly OpenTransfer[]> =>
  listOpenTransfers(pool, chainId, {
    openPayments: sql.fragment`
      SELECT source_id, seq, payment_link_id FROM nonces_to_learn
      WHERE source = ${getChainSource(chainId)} AND seq > ${afterSeq}::bigint
      ORDER BY seq
      LIMIT ${countMax}
    `,
    orderBy: sql.fragment`open.seq`,
  });

/** Saves the nonces of transfers, with whose they are: they are asked for no more. */
export const saveNonces = async (
  tx: Transaction,
  chainId: string,
  transfersWithNonce: readonly (OpenTransfer & { nonce: number })[],
): Promise<void> => {
  const nonceRows = transfersWithNonce.map(({ transactionHash, sender, nonce }) => [
    transactionHash,
    sender,
    nonce,
  ]);
  await tx.query(sqlVoid`
    UPDATE chain_transfers AS kept SET sender = told.sender, nonce = told.nonce
    FROM ${sql.unnest(nonceRows, ["text", "text", "int8"])} AS told (transaction_hash, sender, nonce)
    WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = told.transaction_hash
      AND kept.nonce IS NULL
  `);
  const seqs = transfersWithNonce.map(({ seq }) => seq);
  await tx.query(sqlVoid`
    DELETE FROM nonces_to_learn
    WHERE source = ${getChainSource(chainId)} AND seq = ANY (${sql.array(seqs, "int8")})
  `);
};

/**
 * The transfers of the payments that `open` names, in that order. They are found by the key, one by
 * one: an open payment's transfer is a row among very many.
 */
const listOpenTransfers = (
  pool: Db,
  chainId: string,
  { openPayments, orderBy }: { openPayments: FragmentSqlToken; orderBy: FragmentSqlToken },
): Promise<readonly OpenTransfer[]> =>
  pool.any(sql.type(OpenTransferRow)`
    SELECT ${transferColumns}, open.seq
    FROM (${openPayments}) AS open
    CROSS JOIN LATERAL (
      SELECT * FROM chain_transfers
      WHERE chain_id = ${chainId} AND transaction_hash = split_part(open.source_id, ':', 1)
        AND payment_link_id = open.payment_link_id
        AND ordinal = split_part(open.source_id, ':', 3)::int
      LIMIT 1
    ) AS kept
    ORDER BY ${orderBy}
  `);
