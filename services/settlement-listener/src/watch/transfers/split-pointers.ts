import { transfersPerCommitMax } from "../../payment-reports/record-transfers.ts";
import type { TransactionPointer } from "../chain-reader.ts";

/** Pointers of whole blocks, up to and with `endBlock`. */
export type PointerBatch = { pointers: readonly TransactionPointer[]; endBlock: number };

/**
 * Cuts the pointers of a range that ends at `endBlock` into pieces, between blocks. What a piece
 * points to fits into one commit; a block with more than that is a piece of its own. There is at
 * least one piece.
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
