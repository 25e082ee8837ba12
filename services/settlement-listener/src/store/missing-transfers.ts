import { sql } from "slonik";
import { type Transaction, nothing } from "@payment-links/postgres";

/** Marks as orphaned what was seen of transactions in blocks that do not hold them. */
export const orphanMissing = async (
  tx: Transaction,
  chainId: string,
  places: readonly { transactionHash: string; blockHash: string }[],
): Promise<void> => {
  const rows = places.map(({ transactionHash, blockHash }) => [transactionHash, blockHash]);
  await tx.query(nothing`
    UPDATE chain_transfers AS kept SET is_orphaned = true
    FROM ${sql.unnest(rows, ["text", "text"])} AS place (transaction_hash, block_hash)
    WHERE kept.chain_id = ${chainId} AND kept.transaction_hash = place.transaction_hash
      AND kept.block_hash = place.block_hash AND kept.state = 'seen'
  `);
};
