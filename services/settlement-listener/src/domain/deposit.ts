import { getChainSource } from "@payment-links/chains";
import {
  type DepositState,
  depositOrphaned,
  depositSeen,
  depositSettled,
  createDeterministicId,
  isId,
} from "@payment-links/contracts";
import type { Transfer } from "./transfer.ts";
import type { Payment } from "./payment.ts";

/**
 * Returns a deposit's id. The id is derived from the transfer's identity on chain, so a rescan
 * finds the same id.
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

/** Converts a payment to the deposit that its events publish. */
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
