import { getChainSource } from "@payment-links/contracts";

/**
 * The common prefix of the `sourceId` of all payments that one transaction makes on a link. A
 * number follows it.
 */
export type SourceIdPrefix = { source: string; prefix: string };

/**
 * Returns the prefix of the `sourceId` of the payments that a transaction makes on a link (rule
 * CHAIN-3). It depends only on what a payer knows, so it is known before anyone has seen the
 * payment. A payer need not know the number. On Bitcoin it is the output's index.
 */
export const buildSourceIdPrefix = (payment: {
  chainId: string;
  transactionHash: string;
  linkId: string;
}): SourceIdPrefix => {
  const { chainId, transactionHash, linkId } = payment;
  // EVM hashes are case-insensitive; those of other families are not.
  const hash = /^0x/i.test(transactionHash) ? transactionHash.toLowerCase() : transactionHash;
  return { source: getChainSource(chainId), prefix: `${hash}:${linkId}:` };
};
