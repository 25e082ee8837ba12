import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import { getChainSource } from "@payment-links/chains";
import { type Db, type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { StoredTransfer } from "../domain/transfer.ts";
import { TransferRow, transferColumns } from "./transfer-row.ts";

/** A cursor in the order in which a chain's open payments are processed. */
export type OpenTransferCursor = { blockNumber: number; seq: string };

/** The transfer of an open payment, with its position. */
export type OpenTransfer = StoredTransfer & { seq: string };

const OpenTransferRow = TransferRow.extend({ seq: z.string() });

/**
 * Whether to include deposits. If the chain does not detect deposits, its receipts contain none, so
 * stored deposits must be left out.
 */
type DepositFilter = { includeDeposits: boolean };

/** A deposit is stored like a payment of a link, with the deposit's own id as the link's id. */
const buildDepositFilter = ({ includeDeposits }: DepositFilter): FragmentSqlToken =>
  includeDeposits ? sql.fragment`` : sql.fragment`AND NOT starts_with(payment_link_id, 'dep_')`;

/**
 * Lists the transfers of processing payments in blocks up to `toBlock`, after a cursor, lowest
 * block first.
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
 * Lists the transfers of processing payments that have no block, for example after a reorg. Starts
 * after `afterSeq`, in the order in which the payments were stored.
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
 * Lists the transfers of open payments whose nonce is unknown. Starts after `afterSeq`, in the
 * order in which the payments were stored.
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

/**
 * Saves the nonces of transfers, with their senders, and removes the payments from the list of
 * missing nonces.
 */
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
    UPDATE chain_transfers AS stored SET sender = incoming.sender, nonce = incoming.nonce
    FROM ${sql.unnest(nonceRows, ["text", "text", "int8"])}
      AS incoming (transaction_hash, sender, nonce)
    WHERE stored.chain_id = ${chainId} AND stored.transaction_hash = incoming.transaction_hash
      AND stored.nonce IS NULL
  `);
  const seqs = transfersWithNonce.map(({ seq }) => seq);
  await tx.query(sqlVoid`
    DELETE FROM nonces_to_learn
    WHERE source = ${getChainSource(chainId)} AND seq = ANY (${sql.array(seqs, "int8")})
  `);
};

/**
 * Lists the transfers of the payments that `openPayments` selects, in the given order. Looks up
 * each transfer by its key, because open payments are few and the table has very many rows.
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
