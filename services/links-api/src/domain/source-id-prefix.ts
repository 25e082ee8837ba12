import { getChainSource } from "@payment-links/contracts";

/** What the names of all payments that a transaction makes on a link begin with; their numbers follow. */
export type SourceIdPrefix = { source: string; prefix: string };

/**
 * How the payments are named that a transaction makes on a link (rule CHAIN-3). It follows from what a
 * payer knows, so it is known before anybody has seen them. A payer need not know the number: on Bitcoin
 * it is that of the output.
 */
export const buildSourceIdPrefix = (payment: {
  chainId: string;
  transactionHash: string;
  linkId: string;
}): SourceIdPrefix => {
  const { chainId, transactionHash, linkId } = payment;
  // Hashes of EVM may be written in either case; names of other families may not.
  const hash = /^0x/i.test(transactionHash) ? transactionHash.toLowerCase() : transactionHash;
  return { source: getChainSource(chainId), prefix: `${hash}:${linkId}:` };
};
