import * as z from "zod";
import { sql } from "slonik";
import { Amount, formatAmount } from "@payment-links/contracts";
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";
import {
  type ChainTransfer,
  type StoredTransfer,
  type TransferName,
  transferStates,
} from "../domain/chain-transfer.ts";
import { BlockNumber } from "./block-number.ts";
import { lockNames, shareNames } from "./name-locks.ts";

const TransferRow = z.object({
  chainId: z.string(),
  transactionHash: z.string(),
  ordinal: z.int(),
  blockNumber: BlockNumber,
  blockHash: z.string(),
  occurredAt: z.date(),
  referenceHash: z.string(),
  tokenAddress: z.string(),
  destinationAddress: z.string(),
  amount: Amount,
  sender: z.string(),
  nonce: BlockNumber.nullable(),
  state: z.enum(transferStates),
  isOrphaned: z.boolean(),
  paymentLinkId: z.string().nullable(),
});

const columns = sql.fragment`
  kept.chain_id AS "chainId", kept.transaction_hash AS "transactionHash", kept.ordinal,
  kept.block_number AS "blockNumber", kept.block_hash AS "blockHash",
  kept.occurred_at AS "occurredAt", kept.reference_hash AS "referenceHash",
  kept.token_address AS "tokenAddress", kept.destination_address AS "destinationAddress",
  kept.amount, kept.sender, kept.nonce, kept.state, kept.is_orphaned AS "isOrphaned",
  kept.payment_link_id AS "paymentLinkId"
`;

const Reference = z.object({ referenceHash: z.string() });

/**
 * Holds off the first record of any link of these references until the transaction ends, where the
 * link is not known yet. That record then finds what this transaction stores.
 */
export const holdReferences = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => {
  const unknown = await tx.any(sql.type(Reference)`
    SELECT DISTINCT asked.hash AS "referenceHash"
    FROM unnest(${sql.array([...referenceHashes], "text")}) AS asked (hash)
    WHERE NOT EXISTS (SELECT FROM links WHERE payment_reference_hash = asked.hash)
  `);
  if (unknown.length === 0) return;
  await shareNames(
    tx,
    unknown.map(({ referenceHash }) => lockName(referenceHash)),
  );
};

/** Locks references: nobody else stores a transfer of them until the transaction ends. */
export const lockReferences = (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => lockNames(tx, referenceHashes.map(lockName));

/**
 * Stores transfers as they were found on their chain, each with its link where that is known, and
 * answers how they stand now. One that is stored already moves to its new block and is orphaned no
 * more. Its state only goes forward, and its money is what it was when it first settled.
 */
export const upsertTransfers = (
  tx: Transaction,
  transfers: readonly ChainTransfer[],
  now: Date,
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    INSERT INTO chain_transfers AS kept (
      chain_id, transaction_hash, ordinal, block_number, block_hash, occurred_at, reference_hash,
      token_address, destination_address, amount, sender, nonce, state, seen_at, final_at,
      payment_link_id
    )
    SELECT found.*, ${sql.timestamp(now)}, CASE found.state WHEN 'final' THEN ${sql.timestamp(now)} END,
      (SELECT min(id) FROM links WHERE payment_reference_hash = found.reference_hash)
    FROM ${sql.unnest(transfers.map(rowOf), columnTypes)} AS found (
      chain_id, transaction_hash, ordinal, block_number, block_hash, occurred_at, reference_hash,
      token_address, destination_address, amount, sender, nonce, state
    )
    ON CONFLICT (chain_id, transaction_hash, reference_hash, ordinal) DO UPDATE SET
      block_number = excluded.block_number, block_hash = excluded.block_hash,
      occurred_at = excluded.occurred_at, is_orphaned = false,
      amount = CASE kept.state WHEN 'seen' THEN excluded.amount ELSE kept.amount END,
      token_address =
        CASE kept.state WHEN 'seen' THEN excluded.token_address ELSE kept.token_address END,
      destination_address = CASE kept.state
        WHEN 'seen' THEN excluded.destination_address ELSE kept.destination_address
      END,
      nonce = coalesce(kept.nonce, excluded.nonce),
      state = CASE
        WHEN kept.state = 'seen' OR (kept.state = 'settled' AND excluded.state = 'final')
        THEN excluded.state ELSE kept.state
      END,
      final_at = coalesce(kept.final_at, excluded.final_at),
      payment_link_id = coalesce(kept.payment_link_id, excluded.payment_link_id)
    RETURNING ${columns}
  `);

const columnTypes = [
  "text",
  "text",
  "int4",
  "int8",
  "text",
  "timestamptz",
  "text",
  "text",
  "text",
  "numeric",
  "text",
  "int8",
  "text",
];

const rowOf = (transfer: ChainTransfer) => [
  transfer.chainId,
  transfer.transactionHash,
  transfer.ordinal,
  transfer.blockNumber,
  transfer.blockHash,
  transfer.occurredAt.toISOString(),
  transfer.referenceHash,
  transfer.tokenAddress,
  transfer.destinationAddress,
  formatAmount(transfer.amount),
  transfer.sender,
  transfer.nonce ?? null,
  transfer.state,
];

/** The place of a transfer in the order in which they are settled. */
export type DuePlace = Pick<StoredTransfer, "blockNumber" | keyof TransferName>;

/**
 * The transfers that wait to be settled up to a block, from behind a place on, the oldest first.
 */
export const listDue = (
  pool: Pool,
  chainId: string,
  { toBlock, after, countMax }: { toBlock: number; after?: DuePlace | undefined; countMax: number },
): Promise<readonly StoredTransfer[]> => {
  const { blockNumber, transactionHash, referenceHash, ordinal } = after ?? beforeAll;
  return pool.any(sql.type(TransferRow)`
    SELECT ${columns} FROM chain_transfers AS kept
    WHERE chain_id = ${chainId} AND state = 'seen' AND NOT is_orphaned
      AND block_number BETWEEN ${blockNumber} AND ${toBlock}
      AND (block_number, transaction_hash, reference_hash, ordinal)
        > (${blockNumber}, ${transactionHash}, ${referenceHash}, ${ordinal})
    ORDER BY block_number, transaction_hash, reference_hash, ordinal
    LIMIT ${countMax}
  `);
};

const beforeAll: DuePlace = {
  blockNumber: -1,
  transactionHash: "",
  referenceHash: "",
  ordinal: -1,
};

/**
 * Transfers that a reorg took away before they settled, from a name on, in the order of their
 * names.
 */
export const listLost = (
  pool: Pool,
  chainId: string,
  { afterHash, countMax }: { afterHash: string; countMax: number },
): Promise<readonly StoredTransfer[]> =>
  pool.any(sql.type(TransferRow)`
    SELECT ${columns} FROM chain_transfers AS kept
    WHERE chain_id = ${chainId} AND state = 'seen' AND is_orphaned
      AND transaction_hash > ${afterHash}
    ORDER BY transaction_hash, reference_hash, ordinal
    LIMIT ${countMax}
  `);

/**
 * The transfers stored of a range of blocks, and those of the named transactions, wherever they
 * stand.
 */
export const listStored = (
  pool: Pool,
  chainId: string,
  range: { fromBlock: number; toBlock: number; transactionHashes: readonly string[] },
): Promise<readonly StoredTransfer[]> =>
  pool.any(sql.type(TransferRow)`
    SELECT ${columns} FROM chain_transfers AS kept
    WHERE chain_id = ${chainId} AND (
      block_number BETWEEN ${range.fromBlock} AND ${range.toBlock}
      OR transaction_hash = ANY (${sql.array([...range.transactionHashes], "text")})
    )
  `);

/** Marks as orphaned what stood above a block, and answers it as it stands now. */
export const orphanTransfers = (
  tx: Transaction,
  chainId: string,
  aboveBlock: number,
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    UPDATE chain_transfers AS kept SET is_orphaned = true
    WHERE chain_id = ${chainId} AND state <> 'failed' AND NOT is_orphaned
      AND block_number > ${aboveBlock}
    RETURNING ${columns}
  `);

/** Marks as final what had settled up to a block. */
export const finalizeTransfers = async (
  tx: Transaction,
  chainId: string,
  { toBlock, now }: { toBlock: number; now: Date },
): Promise<void> => {
  await tx.query(nothing`
    UPDATE chain_transfers SET state = 'final', final_at = ${sql.timestamp(now)}
    WHERE chain_id = ${chainId} AND state = 'settled' AND NOT is_orphaned
      AND block_number <= ${toBlock}
  `);
};

/** Marks transfers as failed for good, and answers those that were still waiting. */
export const failTransfers = (
  tx: Transaction,
  chainId: string,
  transfers: readonly TransferName[],
  now: Date,
): Promise<readonly StoredTransfer[]> => {
  const names = transfers.map((transfer) => [
    transfer.transactionHash,
    transfer.referenceHash,
    transfer.ordinal,
  ]);
  return tx.any(sql.type(TransferRow)`
    UPDATE chain_transfers AS kept SET state = 'failed', final_at = ${sql.timestamp(now)}
    FROM ${sql.unnest(names, ["text", "text", "int4"])}
      AS named (transaction_hash, reference_hash, ordinal)
    WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = named.transaction_hash
      AND kept.reference_hash = named.reference_hash AND kept.ordinal = named.ordinal
      AND kept.state = 'seen'
    RETURNING ${columns}
  `);
};

/**
 * Assigns to links the transfers that were stored for their references, the oldest first and at most
 * `countMax`. The references must be locked. One that a reorg took away counts as seen alone, however
 * far it had come: nobody has been told of it, so it must stand in a block again to be money.
 */
export const assignTransfers = (
  tx: Transaction,
  links: readonly { linkId: string; referenceHash: string }[],
  countMax: number,
): Promise<readonly StoredTransfer[]> => {
  const named = links.map(({ referenceHash, linkId }) => [referenceHash, linkId]);
  const hashes = links.map(({ referenceHash }) => referenceHash);
  return tx.any(sql.type(TransferRow)`
    UPDATE chain_transfers AS kept SET payment_link_id = named.link_id,
      state = CASE WHEN is_orphaned AND state <> 'failed' THEN 'seen' ELSE state END,
      final_at = CASE WHEN is_orphaned AND state <> 'failed' THEN NULL ELSE final_at END
    FROM ${sql.unnest(named, ["text", "text"])} AS named (reference_hash, link_id)
    WHERE kept.reference_hash = named.reference_hash
      AND (chain_id, transaction_hash, kept.reference_hash, ordinal) IN (
        SELECT chain_id, transaction_hash, reference_hash, ordinal FROM chain_transfers
        WHERE reference_hash = ANY (${sql.array(hashes, "text")}) AND payment_link_id IS NULL
        ORDER BY occurred_at
        LIMIT ${countMax}
        FOR UPDATE
      )
    RETURNING ${columns}
  `);
};

/**
 * Deletes transfers for which no link came, final or orphaned since before an instant (rule
 * CHAIN-8).
 */
export const deleteUnmatchedTransfers = async (
  tx: Transaction,
  chainId: string,
  { before, countMax }: { before: Date; countMax: number },
): Promise<number> => {
  const { rowCount } = await tx.query(nothing`
    DELETE FROM chain_transfers WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM chain_transfers
      WHERE chain_id = ${chainId} AND payment_link_id IS NULL AND (
        final_at < ${sql.timestamp(before)} OR (is_orphaned AND seen_at < ${sql.timestamp(before)})
      )
      LIMIT ${countMax}
    ))
  `);
  return rowCount;
};

/** Deletes all transfers of a disposable chain, which is not there any more. */
export const deleteChainTransfers = async (tx: Transaction, chainId: string): Promise<void> => {
  await tx.query(nothing`DELETE FROM chain_transfers WHERE chain_id = ${chainId}`);
};

const lockName = (referenceHash: string): string =>
  `settlement-listener reference ${referenceHash}`;
