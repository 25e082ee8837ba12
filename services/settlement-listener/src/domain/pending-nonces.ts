/**
 * The number of nonces that a sender had used at a block that was the newest one when it was
 * requested.
 */
export type PendingNonces = { count: number; blockNumber: number; blockHash: string };

/**
 * Classifies a nonce count:
 * - `final`: its block is final
 * - `replaced`: the final block with that number is another one
 * - `pending`: its block is not final yet, or the providers do not agree on the block's hash
 */
export const classifyPendingNonces = (
  { blockHash, blockNumber }: PendingNonces,
  { agreedHash, finalizedTo }: { agreedHash: string | undefined; finalizedTo: number },
): "pending" | "final" | "replaced" => {
  if (blockNumber > finalizedTo || agreedHash === undefined) return "pending";
  return agreedHash === blockHash ? "final" : "replaced";
};
