/** How many nonces a sender had used by a block that was new when it was asked for. */
export type PendingNonces = { count: number; blockNumber: number; blockHash: string };

/**
 * Returns what an observation is worth. It counts once its block is final. It is `replaced` if another block
 * has that place. It is `pending` until the block is final, and while nobody agrees on its hash.
 */
export const classifyPendingNonces = (
  { blockHash, blockNumber }: PendingNonces,
  { agreedHash, finalizedTo }: { agreedHash: string | undefined; finalizedTo: number },
): "pending" | "final" | "replaced" => {
  if (blockNumber > finalizedTo || agreedHash === undefined) return "pending";
  return agreedHash === blockHash ? "final" : "replaced";
};
