import { chainSource, idOfNames } from "@payment-links/contracts";

/**
 * The id of the payment that a transaction makes on a link: of the first, where it makes several (rules
 * CHAIN-3, API-24). It follows from what a payer knows, so it is known before anybody has seen it.
 */
export const chainPaymentId = (payment: {
  chainId: string;
  transactionHash: string;
  linkId: string;
}): string => {
  const { chainId, transactionHash, linkId } = payment;
  // Hashes of EVM may be written in either case; names of other families may not.
  const hash = /^0x/i.test(transactionHash) ? transactionHash.toLowerCase() : transactionHash;
  const name = `${hash}:${linkId}:0`;
  return idOfNames("tx", [chainSource(chainId), name, linkId]);
};
