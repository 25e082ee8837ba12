import { idOfNames } from "@payment-links/contracts";

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
  const name = `${transactionHash.toLowerCase()}:${linkId}:0`;
  return idOfNames("tx", [`evm:${chainId}`, name, linkId]);
};
