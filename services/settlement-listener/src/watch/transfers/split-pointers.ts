import { transfersPerCommitMax } from "../../payment-reports/record-transfers.ts";
import type { TransactionPointer } from "../chain-reader.ts";

/** Pointers of whole blocks up to and including `endBlock`. */
export type PointerBatch = { pointers: readonly TransactionPointer[]; endBlock: number };

/**
 * Splits the pointers of a range that ends at `endBlock` into batches at block boundaries. Each
 * batch fits into one commit; a block with more transfers than that is its own batch. Returns at
 * least one batch.
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
