import { transfersPerCommitMax } from "../../payment-reports/record-transfers.ts";
import type { TransactionPointer } from "@payment-links/chains/chain-reader";

/** All pointers of some consecutive blocks. The last block is `endBlock`. */
export type PointerBatch = { pointers: readonly TransactionPointer[]; endBlock: number };

/**
 * Splits the pointers of a range that ends at `endBlock` into at least one batch, at block
 * boundaries. Each batch fits into one commit, except that a single block is never split.
 */
export const splitPointers = (
  pointers: readonly TransactionPointer[],
  endBlock: number,
): readonly PointerBatch[] => {
  const batches: PointerBatch[] = [];
  let batchStart = 0;
  let blockStart = 0;
  for (const [index, pointer] of pointers.entries()) {
    if (pointer.blockNumber !== pointers[blockStart]?.blockNumber) blockStart = index;
    const isFull = index - batchStart >= transfersPerCommitMax;
    const previousPointer = pointers[blockStart - 1];
    if (!isFull || blockStart === batchStart || previousPointer === undefined) continue;
    batches.push({
      pointers: pointers.slice(batchStart, blockStart),
      endBlock: previousPointer.blockNumber,
    });
    batchStart = blockStart;
  }
  return [...batches, { pointers: pointers.slice(batchStart), endBlock }];
};
