import { transfersPerCommitMax } from "../../sightings/record-transfers.ts";
import type { Pointer } from "../chain-reader.ts";

/** Pointers of whole blocks, up to and with `endNumber`. */
export type Piece = { pointers: readonly Pointer[]; endNumber: number };

/**
 * Cuts the pointers of a range that ends at `endNumber` into pieces, between blocks. What a piece
 * points to fits into one commit; a block with more than that is a piece of its own. There is at
 * least one piece.
 */
export const cutPointers = (pointers: readonly Pointer[], endNumber: number): readonly Piece[] => {
  const pieces: Piece[] = [];
  let first = 0;
  let blockFirst = 0;
  for (const [index, pointer] of pointers.entries()) {
    if (pointer.blockNumber !== pointers[blockFirst]?.blockNumber) blockFirst = index;
    const isFull = index - first >= transfersPerCommitMax;
    const last = pointers[blockFirst - 1];
    if (!isFull || blockFirst === first || last === undefined) continue;
    pieces.push({ pointers: pointers.slice(first, blockFirst), endNumber: last.blockNumber });
    first = blockFirst;
  }
  return [...pieces, { pointers: pointers.slice(first), endNumber }];
};
