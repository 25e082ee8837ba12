import { transfersPerCommitMax } from "../../sightings/record-transfers.ts";
import type { ProxyLog } from "../rpc/chain-reader.ts";

/** Logs of whole blocks, up to and with `endNumber`. */
export type Piece = { logs: readonly ProxyLog[]; endNumber: number };

/**
 * Cuts the logs of a range that ends at `endNumber` into pieces, between blocks. What a piece
 * points to fits into one commit; a block with more than that is a piece of its own. There is at
 * least one piece.
 */
export const cutLogs = (logs: readonly ProxyLog[], endNumber: number): readonly Piece[] => {
  const pieces: Piece[] = [];
  let first = 0;
  let blockFirst = 0;
  for (const [index, log] of logs.entries()) {
    if (log.blockNumber !== logs[blockFirst]?.blockNumber) blockFirst = index;
    const isFull = index - first >= transfersPerCommitMax;
    const last = logs[blockFirst - 1];
    if (!isFull || blockFirst === first || last === undefined) continue;
    pieces.push({ logs: logs.slice(first, blockFirst), endNumber: last.blockNumber });
    first = blockFirst;
  }
  return [...pieces, { logs: logs.slice(first), endNumber }];
};
