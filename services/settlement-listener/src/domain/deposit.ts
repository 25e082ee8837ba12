import {
  type DepositState,
  getChainSource,
  depositOrphaned,
  depositSeen,
  depositSettled,
  createDeterministicId,
  isId,
} from "@payment-links/contracts";
import type { Transfer } from "./transfer.ts";
import type { Payment } from "./payment.ts";

/**
 * Stands in for the reference of a transfer that has none: deposits of one token to one owner are
 * numbered in their receipt as payments of one reference are. No hash looks like it.
 */
export const deriveDepositReference = (deposit: {
  tokenAddress: string;
  destinationAddress: string;
}): string => `deposit:${deposit.tokenAddress}:${deposit.destinationAddress}`;

/** A deposit's id, which follows from its place on the chain, however often that is read. */
export const deriveDepositId = ({
  chainId,
  ordinal,
  referenceHash,
  transactionHash,
}: Pick<Transfer, "chainId" | "transactionHash" | "referenceHash" | "ordinal">): string =>
  createDeterministicId("dep", [
    getChainSource(chainId),
    transactionHash,
    referenceHash,
    String(ordinal),
  ]);

/** Whether a payment is a deposit: it is for no link, but for itself. */
export const isDeposit = ({ paymentLinkId }: Pick<Payment, "paymentLinkId">): boolean =>
  isId("dep", paymentLinkId);

/** The event that tells a deposit's state. */
export const getDepositEventType = ({ status }: DepositState) =>
  ({ seen: depositSeen, settled: depositSettled, orphaned: depositOrphaned })[status];

/** A deposit as others are told of it. */
export const toDepositState = (payment: Payment): DepositState => ({
  id: payment.paymentLinkId,
  version: payment.version,
  status: getDepositStatus(payment),
  amount: payment.amount,
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  destinationAddress: payment.destinationAddress,
  payer: payment.payer ?? null,
  sourceTransaction: payment.sourceTransaction ?? "",
  occurredAt: payment.occurredAt,
  firstSeenAt: payment.firstSeenAt,
});

const getDepositStatus = ({ isOrphaned, status }: Payment): DepositState["status"] => {
  if (status === "processing") return "seen";
  return status === "settled" && isOrphaned !== true ? "settled" : "orphaned";
};
