/** How many nonces a sender had used by a block that was the newest when requested. */
export type PendingNonces = { count: number; blockNumber: number; blockHash: string };

/**
 * Classifies an observation. It is `final` once its block is final, and `replaced` if another block
 * has that number. It is `pending` until the block is final, and while providers do not agree on
 * the block's hash.
 */
export const classifyPendingNonces = (
  { blockHash, blockNumber }: PendingNonces,
  { agreedHash, finalizedTo }: { agreedHash: string | undefined; finalizedTo: number },
): "pending" | "final" | "replaced" => {
  if (blockNumber > finalizedTo || agreedHash === undefined) return "pending";
  return agreedHash === blockHash ? "final" : "replaced";
};
