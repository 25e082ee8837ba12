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
 * Returns the reference for a transfer that has none. Deposits of one token to one owner are
 * numbered within their receipt like payments with one reference. The value cannot collide with a
 * reference hash.
 */
export const deriveDepositReference = (deposit: {
  tokenAddress: string;
  destinationAddress: string;
}): string => `deposit:${deposit.tokenAddress}:${deposit.destinationAddress}`;

/**
 * Returns a deposit's id, derived from its position on the chain, so reading it again gives the
 * same id.
 */
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

/**
 * Returns whether a payment is a deposit. A deposit belongs to no link; its link id is its own id.
 */
export const isDeposit = ({ paymentLinkId }: Pick<Payment, "paymentLinkId">): boolean =>
  isId("dep", paymentLinkId);

export const getDepositEventType = ({ status }: DepositState) =>
  ({ seen: depositSeen, settled: depositSettled, orphaned: depositOrphaned })[status];

/** Returns the deposit as its events publish it. */
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
