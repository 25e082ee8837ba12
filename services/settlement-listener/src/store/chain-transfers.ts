import * as z from "zod";
import { sql } from "slonik";
import { getChainSource } from "@payment-links/chains";
import { PaymentStatus } from "@payment-links/contracts";
import {
  type Pool,
  type Transaction,
  VoidRow,
  defineTable,
  sqlVoid,
} from "@payment-links/postgres";
import type { Transfer, StoredTransfer } from "../domain/transfer.ts";
import { TransferRow, oldestFirst, transferColumns } from "./transfer-row.ts";

/** A transfer to store, and whether its block is deep enough to settle. */
export type NewTransfer = StoredTransfer & Pick<Transfer, "status">;

/**
 * Stores transfers found on their chain, with their links if known, and returns them as stored.
 * Usually all transfers are new, so it first tries a plain insert.
 *
 * A transfer that is already stored:
 * - It moves to its new block if it was orphaned, or if it settles there. A quorum confirms each
 *   settlement. In other cases a reorg orphans the transfer first.
 * - Its sender stays if its nonce is known. A quorum confirmed both, while a receipt without a
 *   nonce comes from one provider.
 * - It stays without a link if it was seen before its link had the address, even if it is mined
 *   later (rule CHAIN-28).
 * - It is not written again if nothing changed.
 */
export const storeTransfers = async (
  tx: Transaction,
  transfers: readonly NewTransfer[],
  now: Date,
): Promise<{ areNew: boolean; stored: readonly StoredTransfer[] }> => {
  const { rowCount } = await tx.query(sql.prepared("insert_transfers", VoidRow)`
    INSERT INTO chain_transfers (${insertedColumns})
    SELECT found.*, ${sql.timestamp(now)} FROM ${buildFoundRows(transfers)}
    ON CONFLICT DO NOTHING
  `);
  if (rowCount === transfers.length) return { areNew: true, stored: transfers };
  return { areNew: false, stored: await upsertTransfers(tx, transfers, now) };
};

/**
 * Stores new mempool transfers and returns them. They have no block, so they are stored as
 * orphaned.
 */
export const insertUnconfirmed = (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    WITH added AS (
      INSERT INTO chain_transfers (${insertedColumns}, is_orphaned)
      SELECT found.*, ${sql.timestamp(now)}, true FROM ${buildFoundRows(transfers)}
      ON CONFLICT DO NOTHING
      RETURNING *
    )
    SELECT ${transferColumns} FROM added AS kept ORDER BY ${oldestFirst}
  `);

const upsertTransfers = (
  tx: Transaction,
  transfers: readonly NewTransfer[],
  now: Date,
): Promise<readonly StoredTransfer[]> => {
  const settlingHashes = transfers.flatMap((transfer) =>
    transfer.status === "settled" ? transfer.transactionHash : [],
  );
  return tx.any(sql.type(TransferRow)`
    WITH found AS (
      SELECT * FROM ${buildFoundRows(transfers)}
    ), written AS (
      INSERT INTO chain_transfers AS kept (${insertedColumns})
      SELECT found.*, ${sql.timestamp(now)} FROM found
      ON CONFLICT (chain_id, transaction_hash, reference_hash, ordinal) DO UPDATE SET
        block_number = excluded.block_number, block_hash = excluded.block_hash,
        occurred_at = excluded.occurred_at, is_orphaned = false, amount = excluded.amount,
        token_address = excluded.token_address,
        destination_address = excluded.destination_address, payer = excluded.payer,
        sender = CASE
          WHEN coalesce(excluded.nonce, kept.nonce) = kept.nonce THEN kept.sender
          ELSE excluded.sender
        END,
        nonce = coalesce(excluded.nonce, kept.nonce),
        payment_link_id = coalesce(kept.payment_link_id, CASE
          WHEN NOT EXISTS (
            SELECT FROM links
            WHERE links.id = excluded.payment_link_id AND links.paid_from > known_since(kept)
          ) THEN excluded.payment_link_id
        END)
      WHERE kept.is_orphaned
        OR (kept.payment_link_id IS NULL AND excluded.payment_link_id IS NOT NULL)
        OR ((kept.block_hash = excluded.block_hash
            OR kept.transaction_hash = ANY (${sql.array(settlingHashes, "text")}))
          AND ((kept.nonce IS NULL AND kept.sender <> excluded.sender)
            OR (kept.block_hash, kept.occurred_at, kept.amount, kept.token_address,
                kept.destination_address, kept.payer)
              IS DISTINCT FROM (excluded.block_hash, excluded.occurred_at, excluded.amount,
                excluded.token_address, excluded.destination_address, excluded.payer)))
      RETURNING *
    )
    SELECT ${transferColumns} FROM (
      SELECT * FROM written
      UNION ALL
      SELECT kept.* FROM found
      JOIN chain_transfers AS kept USING (chain_id, transaction_hash, reference_hash, ordinal)
      WHERE NOT EXISTS (
        SELECT FROM written
        WHERE (written.chain_id, written.transaction_hash, written.reference_hash, written.ordinal)
          = (kept.chain_id, kept.transaction_hash, kept.reference_hash, kept.ordinal)
      )
    ) AS kept
    ORDER BY ${oldestFirst}
  `);
};

const foundTable = defineTable(TransferRow.omit({ isOrphaned: true }));
const insertedColumns = sql.fragment`${foundTable.names}, seen_at`;

const buildFoundRows = (transfers: readonly StoredTransfer[]) => sql.fragment`
  (${foundTable.rows(transfers)}) AS found
`;

/**
 * Lists the transfers in a range of blocks, and the transfers of the given transactions in any
 * block. Includes the status of their payments, if they have any.
 */
export const listStoredTransfers = (
  pool: Pool,
  chainId: string,
  range: { fromBlock: number; toBlock: number; transactionHashes: readonly string[] },
): Promise<readonly (StoredTransfer & { status: PaymentStatus | null })[]> =>
  pool.any(sql.type(TransferWithStatusRow)`
    SELECT ${transferColumns}, (
      SELECT status FROM payments
      WHERE source = ${getChainSource(chainId)}
        AND source_id = kept.transaction_hash || ':' || kept.payment_link_id || ':' || kept.ordinal
    ) AS status
    FROM chain_transfers AS kept
    WHERE chain_id = ${chainId} AND (
      block_number BETWEEN ${range.fromBlock} AND ${range.toBlock}
      OR transaction_hash = ANY (${sql.array([...range.transactionHashes], "text")})
    )
  `);

const TransferWithStatusRow = TransferRow.extend({ status: PaymentStatus.nullable() });

/**
 * Marks the transfers above a block as orphaned, except those in blocks that still exist. Returns
 * the marked transfers, oldest first.
 */
export const orphanTransfers = (
  tx: Transaction,
  chainId: string,
  aboveBlock: number,
  existingBlockHashes: readonly string[] = [],
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    WITH orphaned AS (
      UPDATE chain_transfers SET is_orphaned = true
      WHERE chain_id = ${chainId} AND NOT is_orphaned AND block_number > ${aboveBlock}
        AND block_hash <> ALL (${sql.array(existingBlockHashes, "text")})
      RETURNING *
    )
    SELECT ${transferColumns} FROM orphaned AS kept ORDER BY ${oldestFirst}
  `);

/**
 * Marks transfers as orphaned because their blocks no longer contain them. Returns the marked
 * transfers, oldest first.
 */
export const orphanMissingTransfers = (
  tx: Transaction,
  chainId: string,
  missing: readonly StoredTransfer[],
): Promise<readonly StoredTransfer[]> => {
  const identities = missing.map((transfer) => [
    transfer.transactionHash,
    transfer.referenceHash,
    transfer.ordinal,
    transfer.blockHash,
  ]);
  return tx.any(sql.type(TransferRow)`
    WITH orphaned AS (
      UPDATE chain_transfers AS kept SET is_orphaned = true
      FROM ${sql.unnest(identities, ["text", "text", "int4", "text"])}
        AS gone (transaction_hash, reference_hash, ordinal, block_hash)
      WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = gone.transaction_hash
        AND kept.reference_hash = gone.reference_hash AND kept.ordinal = gone.ordinal
        AND kept.block_hash = gone.block_hash AND NOT kept.is_orphaned
      RETURNING kept.*
    )
    SELECT ${transferColumns} FROM orphaned AS kept ORDER BY ${oldestFirst}
  `);
};

/**
 * Assigns up to `countMax` stored transfers to the links of their references. Returns them, oldest
 * first. Transfers that are older than their link stay without one. The caller must have locked the
 * references.
 */
export const assignTransfers = (
  tx: Transaction,
  links: readonly { linkId: string; referenceHash: string }[],
  countMax: number,
): Promise<readonly StoredTransfer[]> => {
  const linkRows = links.map(({ referenceHash, linkId }) => [referenceHash, linkId]);
  const hashes = links.map(({ referenceHash }) => referenceHash);
  return tx.any(sql.type(TransferRow)`
    WITH assigned AS (
      UPDATE chain_transfers AS kept SET payment_link_id = named.link_id
      FROM ${sql.unnest(linkRows, ["text", "text"])} AS named (reference_hash, link_id)
      WHERE kept.reference_hash = named.reference_hash
        AND (chain_id, transaction_hash, kept.reference_hash, ordinal) IN (
          SELECT chain_id, transaction_hash, reference_hash, ordinal FROM chain_transfers
          WHERE reference_hash = ANY (${sql.array(hashes, "text")}) AND payment_link_id IS NULL
            AND NOT EXISTS (
              SELECT FROM links
              WHERE payment_reference_hash = chain_transfers.reference_hash
                AND paid_from > known_since(chain_transfers)
            )
          ORDER BY ${oldestFirst}
          LIMIT ${countMax}
          FOR UPDATE
        )
      RETURNING kept.*
    )
    SELECT ${transferColumns} FROM assigned AS kept ORDER BY ${oldestFirst}
  `);
};

/**
 * Deletes up to `countMax` transfers that no link has claimed, that were seen before `seenBefore`,
 * and that are final or orphaned (rule CHAIN-8). Returns the number of deleted transfers. Transfers
 * that are older than their link are kept, so that a later scan does not assign them to it. Starts
 * where the last run stopped, to avoid a scan of deleted index entries. The caller must have locked
 * the chain's leadership.
 */
export const deleteUnmatchedTransfers = async (
  tx: Transaction,
  chainId: string,
  {
    seenBefore,
    finalizedTo,
    countMax,
  }: { seenBefore: Date; finalizedTo: number; countMax: number },
): Promise<number> => {
  const { count } = await tx.one(sql.type(CountRow)`
    WITH old AS (
      SELECT ctid, seen_at, is_orphaned OR block_number <= ${finalizedTo} AS is_over
      FROM chain_transfers
      WHERE chain_id = ${chainId} AND payment_link_id IS NULL
        AND seen_at >= (
          SELECT coalesce(forgotten_to, '-infinity') FROM watchers WHERE chain_id = ${chainId}
        )
        AND seen_at < ${sql.timestamp(seenBefore)}
        AND NOT EXISTS (SELECT FROM links WHERE payment_reference_hash = reference_hash)
      ORDER BY seen_at
      LIMIT ${countMax}
    ), gone AS (
      DELETE FROM chain_transfers
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM old WHERE is_over))
      RETURNING 1
    ), moved AS (
      UPDATE watchers SET forgotten_to = reached_to
      FROM (
        SELECT coalesce(min(seen_at) FILTER (WHERE NOT is_over), max(seen_at)) AS reached_to FROM old
      ) AS reach
      WHERE chain_id = ${chainId} AND reached_to IS NOT NULL
    )
    SELECT count(*)::int AS count FROM gone
  `);
  return count;
};

const CountRow = z.object({ count: z.int() });

/** Deletes all transfers of a disposable chain that has been restarted. */
export const deleteChainTransfers = async (tx: Transaction, chainId: string): Promise<void> => {
  await tx.query(sqlVoid`DELETE FROM chain_transfers WHERE chain_id = ${chainId}`);
};
