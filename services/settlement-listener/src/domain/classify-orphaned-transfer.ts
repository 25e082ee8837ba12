/**
 * What the chain shows, up to its last final block, about the transaction of an orphaned transfer.
 */
type OrphanEvidence = {
  finalizedTo: number;
  /** The canonical block that contains the transaction. Undefined if there is none. */
  receipt: { blockNumber: number; holdsTransfer: boolean } | undefined;
  /** The transaction's own nonce. Null if it is unknown. */
  nonce: number | null;
  /** How many transactions the sender had sent by the last final block. */
  usedNonces: number;
};

/**
 * Classifies a transfer that was orphaned while its payment was processing (rule CHAIN-5):
 * - `failed`: a final block contains another transaction with the same sender and nonce, or the
 *   final receipt failed or no longer contains the transfer
 * - `found`: the final receipt contains the transfer
 * - `waiting`: neither is known yet
 */
export const classifyOrphanedTransfer = (
  evidence: OrphanEvidence,
): "failed" | "found" | "waiting" => {
  const { finalizedTo, nonce, receipt, usedNonces } = evidence;
  if (receipt !== undefined) {
    if (receipt.blockNumber > finalizedTo) return "waiting";
    return receipt.holdsTransfer ? "found" : "failed";
  }
  return isNonceUsed(nonce, usedNonces) ? "failed" : "waiting";
};

/** Returns whether a nonce is known and its sender has already used it. */
export const isNonceUsed = (nonce: number | null, usedNonces: number): boolean =>
  nonce !== null && usedNonces > nonce;
