import { getChainSource } from "@payment-links/chains";

/**
 * The source and the common prefix of the `sourceId` of all payments that one transaction makes on
 * a link. A number follows the prefix.
 */
export type SourceIdPrefix = { source: string; prefix: string };

/**
 * Returns the prefix of the `sourceId` of the payments that a transaction makes on a link (rule
 * CHAIN-3). It contains only values that a payer knows, so it is known before the payment is seen.
 * A payer does not have to know the number after the prefix, for example the output's index on
 * Bitcoin.
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
