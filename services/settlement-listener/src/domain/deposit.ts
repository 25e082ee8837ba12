import {
  type DepositState,
  chainSource,
  depositOrphaned,
  depositSeen,
  depositSettled,
  idOfNames,
  isId,
} from "@payment-links/contracts";
import type { ChainTransfer } from "./chain-transfer.ts";
import type { Payment } from "./payment.ts";

/**
 * Stands in for the reference of a transfer that has none: deposits of one token to one owner are
 * numbered in their receipt as payments of one reference are. No hash looks like it.
 */
export const depositReference = (deposit: {
  tokenAddress: string;
  destinationAddress: string;
}): string => `deposit:${deposit.tokenAddress}:${deposit.destinationAddress}`;

/** A deposit's id, which follows from its place on the chain, however often that is read. */
export const depositId = ({
  chainId,
  ordinal,
  referenceHash,
  transactionHash,
}: Pick<ChainTransfer, "chainId" | "transactionHash" | "referenceHash" | "ordinal">): string =>
  idOfNames("dep", [chainSource(chainId), transactionHash, referenceHash, String(ordinal)]);

/** Whether a payment is a deposit: it is for no link, but for itself. */
export const isDeposit = ({ paymentLinkId }: Pick<Payment, "paymentLinkId">): boolean =>
  isId("dep", paymentLinkId);

/** The event that tells a deposit's state. */
export const depositEventOf = ({ status }: DepositState) =>
  ({ seen: depositSeen, settled: depositSettled, orphaned: depositOrphaned })[status];

/** A deposit as others are told of it. */
export const depositState = (payment: Payment): DepositState => ({
  id: payment.paymentLinkId,
  version: payment.version,
  status: statusOf(payment),
  amount: payment.amount,
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  destinationAddress: payment.destinationAddress,
  payer: payment.payer ?? null,
  sourceTransaction: payment.sourceTransaction ?? "",
  occurredAt: payment.occurredAt,
  firstSeenAt: payment.firstSeenAt,
});

const statusOf = ({ isOrphaned, status }: Payment): DepositState["status"] => {
  if (status === "processing") return "seen";
  return status === "settled" && isOrphaned !== true ? "settled" : "orphaned";
};
