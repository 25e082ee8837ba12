/**
 * What a chain says, at its last final block, of a transaction whose transfer a reorg took away.
 */
type OrphanEvidence = {
  finalizedTo: number;
  /** Where the transaction stands now; undefined where it is in no canonical block. */
  receipt: { blockNumber: number; holdsTransfer: boolean } | undefined;
  /** The transaction's own nonce, null where it could not be learnt. */
  nonce: number | null;
  /** How many transactions the sender had sent by the last final block. */
  usedNonces: number;
};

/**
 * Judges a transfer that was orphaned while it was processing (rule CHAIN-5). It has failed once a
 * final block holds another transaction of the same sender and nonce, or a final receipt failed or
 * holds the transfer no more. It is `found` where a final receipt holds it. Else it goes on
 * waiting.
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

/** Whether a sender has used a nonce that is known. */
export const isNonceUsed = (nonce: number | null, usedNonces: number): boolean =>
  nonce !== null && usedNonces > nonce;
