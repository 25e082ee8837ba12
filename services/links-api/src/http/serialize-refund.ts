import { buildExplorerUrl } from "@payment-links/chains";
import { type RefundData, formatAmount } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import type { Refund } from "../domain/refund.ts";

/** Serializes a refund for the link's owner, who recorded it. */
export const serializeRefund = ({ catalogue }: Dependencies, refund: Refund): RefundData => {
  const chain = catalogue.chains.find(({ id }) => id === refund.chainId);
  return {
    id: refund.id,
    paymentId: refund.paymentId,
    amount: formatAmount(refund.amount),
    tokenAddress: refund.tokenAddress,
    chainId: refund.chainId,
    destinationAddress: refund.destinationAddress,
    transactionId: refund.transactionId,
    transactionUrl: (chain && buildExplorerUrl(chain, refund.transactionId)) ?? null,
    dateCreated: refund.recordedAt.toISOString(),
  };
};
