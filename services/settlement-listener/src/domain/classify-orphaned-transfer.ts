/**
 * The chain's evidence, at its last final block, about a transaction whose transfer was orphaned.
 */
type OrphanEvidence = {
  finalizedTo: number;
  /** The block that holds the transaction now. Undefined if no canonical block does. */
  receipt: { blockNumber: number; holdsTransfer: boolean } | undefined;
  /** The transaction's own nonce. Null if it is unknown. */
  nonce: number | null;
  /** How many transactions the sender had sent by the last final block. */
  usedNonces: number;
};

/**
 * Classifies a transfer that was orphaned while it was processing (rule CHAIN-5):
 * - `failed`: a final block holds another transaction with the same sender and nonce, or a final
 *   receipt failed or no longer holds the transfer
 * - `found`: a final receipt holds it
 * - `waiting`: otherwise
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

/** Returns whether a sender has used a known nonce. */
export const isNonceUsed = (nonce: number | null, usedNonces: number): boolean =>
  nonce !== null && usedNonces > nonce;
