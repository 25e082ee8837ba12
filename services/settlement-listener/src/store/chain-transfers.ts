import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import { Amount, PaymentStatus, chainSource, formatAmount } from "@payment-links/contracts";
import {
  type Db,
  type Pool,
  type Transaction,
  NothingRow,
  documentRows,
  nothing,
} from "@payment-links/postgres";
import type { ChainTransfer, StoredTransfer } from "../domain/chain-transfer.ts";
import { BlockNumber } from "./block-number.ts";
import { lockNames, shareNames } from "./name-locks.ts";

/** What a row lacks. */
const absent = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined);

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
  payer: absent,
  nonce: BlockNumber.nullable(),
  isOrphaned: z.boolean(),
  paymentLinkId: z.string().nullable(),
});

const columns = sql.fragment`
  kept.chain_id AS "chainId", kept.transaction_hash AS "transactionHash", kept.ordinal,
  kept.block_number AS "blockNumber", kept.block_hash AS "blockHash",
  kept.occurred_at AS "occurredAt", kept.reference_hash AS "referenceHash",
  kept.token_address AS "tokenAddress", kept.destination_address AS "destinationAddress",
  kept.amount, kept.sender, kept.payer, kept.nonce, kept.is_orphaned AS "isOrphaned",
  kept.payment_link_id AS "paymentLinkId"
`;

/** Those of one block and one instant in an order that is the same for everybody. */
const oldestFirst = sql.fragment`occurred_at, block_number, transaction_hash, ordinal`;

const Named = z.object({ referenceHash: z.string(), linkId: z.string() });

/**
 * The links of references, where they are known. It holds off the first record of any other link of
 * these references until the transaction ends: that record then finds what this transaction stores.
 */
export const holdReferences = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const hashes = [...new Set(referenceHashes)];
  const known = await listLinkIds(tx, hashes);
  const unknown = hashes.filter((hash) => !known.has(hash));
  if (unknown.length === 0) return known;
  await shareNames(tx, "reference", unknown);
  // The wait may have been for the very record that tells of a link.
  return new Map([...known, ...(await listLinkIds(tx, unknown))]);
};

/** Of links that had the same address of Bitcoin, one after the other, the newest (rule API-33). */
const listLinkIds = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.any(sql.type(Named)`
    SELECT payment_reference_hash AS "referenceHash", max(id COLLATE "C") AS "linkId"
    FROM links
    WHERE payment_reference_hash = ANY (${sql.array([...referenceHashes], "text")})
    GROUP BY payment_reference_hash
  `);
  return new Map(rows.map(({ linkId, referenceHash }) => [referenceHash, linkId]));
};

/** Locks references: nobody else stores a transfer of them until the transaction ends. */
export const lockReferences = (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => lockNames(tx, "reference", referenceHashes);

/** A transfer to be stored, and whether it settles as it was found. */
export type FoundTransfer = StoredTransfer & Pick<ChainTransfer, "state">;

/**
 * Stores transfers as they were found on their chain, each with its link where that is known, and
 * answers how they stand now. One that is stored already moves to its new block and is orphaned no
 * more; one that has not moved is not written again. What stands in a block moves to another only as
 * it settles there, by the word of two where there are two: no chain holds it twice, and a reorg orphans
 * it first. A sender whose nonce is known stays with it, as two have named both: a receipt that tells no
 * other nonce is one provider's word. Mostly none is stored already: then nothing has to be read.
 */
export const storeTransfers = async (
  tx: Transaction,
  transfers: readonly FoundTransfer[],
  now: Date,
): Promise<{ areNew: boolean; stored: readonly StoredTransfer[] }> => {
  const { rowCount } = await tx.query(sql.prepared("insert_transfers", NothingRow)`
    INSERT INTO chain_transfers (${insertedColumns})
    SELECT found.*, ${sql.timestamp(now)} FROM ${foundOf(transfers)}
    ON CONFLICT DO NOTHING
  `);
  if (rowCount === transfers.length) return { areNew: true, stored: transfers };
  return { areNew: false, stored: await upsertTransfers(tx, transfers, now) };
};

/**
 * Stores transfers that wait to be mined and were not known so far, and answers these. Like one that a
 * reorg took away, such a transfer stands in no block.
 */
export const insertWaiting = (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    WITH added AS (
      INSERT INTO chain_transfers (${insertedColumns}, is_orphaned)
      SELECT found.*, ${sql.timestamp(now)}, true FROM ${foundOf(transfers)}
      ON CONFLICT DO NOTHING
      RETURNING *
    )
    SELECT ${columns} FROM added AS kept ORDER BY ${oldestFirst}
  `);

const upsertTransfers = (
  tx: Transaction,
  transfers: readonly FoundTransfer[],
  now: Date,
): Promise<readonly StoredTransfer[]> => {
  const settling = transfers.flatMap((one) => (one.state === "settled" ? one.transactionHash : []));
  return tx.any(sql.type(TransferRow)`
    WITH found AS (
      SELECT * FROM ${foundOf(transfers)}
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
        payment_link_id = coalesce(kept.payment_link_id, excluded.payment_link_id)
      WHERE kept.is_orphaned
        OR (kept.payment_link_id IS NULL AND excluded.payment_link_id IS NOT NULL)
        OR ((kept.block_hash = excluded.block_hash
            OR kept.transaction_hash = ANY (${sql.array(settling, "text")}))
          AND ((kept.nonce IS NULL AND kept.sender <> excluded.sender)
            OR (kept.block_hash, kept.occurred_at, kept.amount, kept.token_address,
                kept.destination_address, kept.payer)
              IS DISTINCT FROM (excluded.block_hash, excluded.occurred_at, excluded.amount,
                excluded.token_address, excluded.destination_address, excluded.payer)))
      RETURNING *
    )
    SELECT ${columns} FROM (
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

const foundColumns = sql.fragment`
  chain_id, transaction_hash, ordinal, block_number, block_hash, occurred_at, reference_hash,
  token_address, destination_address, amount, sender, payer, nonce, payment_link_id
`;
const insertedColumns = sql.fragment`${foundColumns}, seen_at`;

const foundOf = (transfers: readonly StoredTransfer[]) => sql.fragment`
  (${documentRows(transfers.map(rowOf), columnTypes)}) AS found (${foundColumns})
`;

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
  "text",
  "int8",
  "text",
];

const rowOf = (transfer: StoredTransfer) => [
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
  transfer.payer ?? null,
  transfer.nonce,
  transfer.paymentLinkId,
];

/** A place in the order in which the open payments of a chain are looked through. */
export type OpenPlace = { blockNumber: number; seq: string };

/** An open payment's transfer, and its place. */
export type OpenTransfer = StoredTransfer & { seq: string };

const OpenRow = TransferRow.extend({ seq: z.string() });

/**
 * The transfers of the payments that wait to be settled up to a block, from behind a place on, the
 * oldest first.
 */
export const listDue = (
  pool: Pool,
  chainId: string,
  {
    toBlock,
    after,
    countMax,
  }: { toBlock: number; after?: OpenPlace | undefined; countMax: number },
): Promise<readonly OpenTransfer[]> => {
  const blockNumber = after?.blockNumber ?? -1;
  return listOpen(pool, chainId, {
    open: sql.fragment`
      SELECT source_id, seq, payment_link_id, block_number FROM open_payments
      WHERE source = ${chainSource(chainId)} AND is_processing
        AND block_number BETWEEN ${blockNumber} AND ${toBlock}
        AND (block_number, seq) > (${blockNumber}, ${after?.seq ?? "0"}::bigint)
      ORDER BY block_number, seq
      LIMIT ${countMax}
    `,
    order: sql.fragment`open.block_number, open.seq`,
  });
};

/**
 * The transfers of payments that a reorg took away before they settled, from behind one on, in the
 * order in which the payments came.
 */
export const listLost = (
  pool: Db,
  chainId: string,
  { afterSeq, countMax }: { afterSeq: string; countMax: number },
): Promise<readonly OpenTransfer[]> =>
  listOpen(pool, chainId, {
    open: sql.fragment`
      SELECT source_id, seq, payment_link_id FROM open_payments
      WHERE source = ${chainSource(chainId)} AND is_processing AND block_number IS NULL
        AND seq > ${afterSeq}::bigint
      ORDER BY seq
      LIMIT ${countMax}
    `,
    order: sql.fragment`open.seq`,
  });

/**
 * The transfers of open payments whose nonce nobody told so far, from behind one on, in the order in
 * which the payments came.
 */
export const listLackingNonces = (
  pool: Pool,
  chainId: string,
  { afterSeq, countMax }: { afterSeq: string; countMax: number },
): Promise<readonly OpenTransfer[]> =>
  listOpen(pool, chainId, {
    open: sql.fragment`
      SELECT source_id, seq, payment_link_id FROM nonces_to_learn
      WHERE source = ${chainSource(chainId)} AND seq > ${afterSeq}::bigint
      ORDER BY seq
      LIMIT ${countMax}
    `,
    order: sql.fragment`open.seq`,
  });

/** Saves the nonces of transfers, with whose they are: they are asked for no more. */
export const saveNonces = async (
  tx: Transaction,
  chainId: string,
  known: readonly (OpenTransfer & { nonce: number })[],
): Promise<void> => {
  const told = known.map(({ transactionHash, sender, nonce }) => [transactionHash, sender, nonce]);
  await tx.query(nothing`
    UPDATE chain_transfers AS kept SET sender = told.sender, nonce = told.nonce
    FROM ${sql.unnest(told, ["text", "text", "int8"])} AS told (transaction_hash, sender, nonce)
    WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = told.transaction_hash
      AND kept.nonce IS NULL
  `);
  const seqs = known.map(({ seq }) => seq);
  await tx.query(nothing`
    DELETE FROM nonces_to_learn
    WHERE source = ${chainSource(chainId)} AND seq = ANY (${sql.array(seqs, "int8")})
  `);
};

/**
 * The transfers of the payments that `open` names, in that order. They are found by the key, one by
 * one: an open payment's transfer is a row among very many.
 */
const listOpen = (
  pool: Db,
  chainId: string,
  { open, order }: { open: FragmentSqlToken; order: FragmentSqlToken },
): Promise<readonly OpenTransfer[]> =>
  pool.any(sql.type(OpenRow)`
    SELECT ${columns}, open.seq
    FROM (${open}) AS open
    CROSS JOIN LATERAL (
      SELECT * FROM chain_transfers
      WHERE chain_id = ${chainId} AND transaction_hash = split_part(open.source_id, ':', 1)
        AND payment_link_id = open.payment_link_id
        AND ordinal = split_part(open.source_id, ':', 3)::int
      LIMIT 1
    ) AS kept
    ORDER BY ${order}
  `);

/**
 * The transfers stored of a range of blocks, and those of the named transactions, wherever they
 * stand; with what is said of their payments, where there are any.
 */
export const listStored = (
  pool: Pool,
  chainId: string,
  range: { fromBlock: number; toBlock: number; transactionHashes: readonly string[] },
): Promise<readonly (StoredTransfer & { status: PaymentStatus | null })[]> =>
  pool.any(sql.type(ToldRow)`
    SELECT ${columns}, (
      SELECT status FROM payments
      WHERE source = ${chainSource(chainId)}
        AND source_id = kept.transaction_hash || ':' || kept.payment_link_id || ':' || kept.ordinal
    ) AS status
    FROM chain_transfers AS kept
    WHERE chain_id = ${chainId} AND (
      block_number BETWEEN ${range.fromBlock} AND ${range.toBlock}
      OR transaction_hash = ANY (${sql.array([...range.transactionHashes], "text")})
    )
  `);

const ToldRow = TransferRow.extend({ status: PaymentStatus.nullable() });

/** Marks as orphaned what stood above a block, and answers it as it stands now, the oldest first. */
export const orphanTransfers = (
  tx: Transaction,
  chainId: string,
  aboveBlock: number,
): Promise<readonly StoredTransfer[]> =>
  tx.any(sql.type(TransferRow)`
    WITH orphaned AS (
      UPDATE chain_transfers SET is_orphaned = true
      WHERE chain_id = ${chainId} AND NOT is_orphaned AND block_number > ${aboveBlock}
      RETURNING *
    )
    SELECT ${columns} FROM orphaned AS kept ORDER BY ${oldestFirst}
  `);

/**
 * Marks as orphaned what is missing in the blocks in which it was seen, and answers it as it stands now,
 * the oldest first.
 */
export const orphanMissing = (
  tx: Transaction,
  chainId: string,
  missing: readonly StoredTransfer[],
): Promise<readonly StoredTransfer[]> => {
  const names = missing.map((transfer) => [
    transfer.transactionHash,
    transfer.referenceHash,
    transfer.ordinal,
    transfer.blockHash,
  ]);
  return tx.any(sql.type(TransferRow)`
    WITH orphaned AS (
      UPDATE chain_transfers AS kept SET is_orphaned = true
      FROM ${sql.unnest(names, ["text", "text", "int4", "text"])}
        AS gone (transaction_hash, reference_hash, ordinal, block_hash)
      WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = gone.transaction_hash
        AND kept.reference_hash = gone.reference_hash AND kept.ordinal = gone.ordinal
        AND kept.block_hash = gone.block_hash AND NOT kept.is_orphaned
      RETURNING kept.*
    )
    SELECT ${columns} FROM orphaned AS kept ORDER BY ${oldestFirst}
  `);
};

/**
 * Assigns to links the transfers that were stored for their references, the oldest first and at most
 * `countMax`, and answers them in that order: so the payments count. The references must be locked.
 */
export const assignTransfers = (
  tx: Transaction,
  links: readonly { linkId: string; referenceHash: string }[],
  countMax: number,
): Promise<readonly StoredTransfer[]> => {
  const named = links.map(({ referenceHash, linkId }) => [referenceHash, linkId]);
  const hashes = links.map(({ referenceHash }) => referenceHash);
  return tx.any(sql.type(TransferRow)`
    WITH assigned AS (
      UPDATE chain_transfers AS kept SET payment_link_id = named.link_id
      FROM ${sql.unnest(named, ["text", "text"])} AS named (reference_hash, link_id)
      WHERE kept.reference_hash = named.reference_hash
        AND (chain_id, transaction_hash, kept.reference_hash, ordinal) IN (
          SELECT chain_id, transaction_hash, reference_hash, ordinal FROM chain_transfers
          WHERE reference_hash = ANY (${sql.array(hashes, "text")}) AND payment_link_id IS NULL
          ORDER BY ${oldestFirst}
          LIMIT ${countMax}
          FOR UPDATE
        )
      RETURNING kept.*
    )
    SELECT ${columns} FROM assigned AS kept ORDER BY ${oldestFirst}
  `);
};

/**
 * Deletes transfers for which no link came, seen before an instant and final or orphaned by now (rule
 * CHAIN-8), from where the last time ended, so that nobody walks over what is gone; answers how many.
 * The chain's lead is locked.
 */
export const deleteUnmatchedTransfers = async (
  tx: Transaction,
  chainId: string,
  { before, finalizedTo, countMax }: { before: Date; finalizedTo: number; countMax: number },
): Promise<number> => {
  const { count } = await tx.one(sql.type(Count)`
    WITH old AS (
      SELECT ctid, seen_at, is_orphaned OR block_number <= ${finalizedTo} AS is_over
      FROM chain_transfers
      WHERE chain_id = ${chainId} AND payment_link_id IS NULL
        AND seen_at >= (
          SELECT coalesce(forgotten_to, '-infinity') FROM watchers WHERE chain_id = ${chainId}
        )
        AND seen_at < ${sql.timestamp(before)}
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

const Count = z.object({ count: z.int() });

/** Deletes all transfers of a disposable chain, which is not there any more. */
export const deleteChainTransfers = async (tx: Transaction, chainId: string): Promise<void> => {
  await tx.query(nothing`DELETE FROM chain_transfers WHERE chain_id = ${chainId}`);
};
