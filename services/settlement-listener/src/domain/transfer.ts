import { type Decimal, getChainSource } from "@payment-links/contracts";
import type { PaymentReport } from "./payment.ts";

/** A payment or deposit as its receipt proves it, in one block. */
export type Transfer = {
  chainId: string;
  transactionHash: string;
  referenceHash: string;
  /**
   * Its index among the receipt's payments with the same reference, almost always 0. On Bitcoin,
   * the index of its output.
   */
  ordinal: number;
  blockNumber: number;
  blockHash: string;
  /** The block's own time. It decides whether a payment is early or late. */
  occurredAt: Date;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  sender: string;
  /** The sender of a deposit. Undefined for payments. */
  payer?: string | undefined;
  /** Undefined while unknown, and for transfers that settled before it was read. */
  nonce: number | undefined;
  /** Whether the block has reached the depth that the chain's policy requires. */
  status: TransferStatus;
};

type TransferStatus = "seen" | "settled";

/** A transfer as stored, with its link. */
export type StoredTransfer = Omit<Transfer, "nonce" | "status"> & {
  nonce: number | null;
  /** Whether no known block holds it, for example after a reorg. */
  isOrphaned: boolean;
  /** For a deposit, its own id. */
  paymentLinkId: string | null;
};

/** The identity of a transfer on its chain, regardless of the block that contains it. */
export type TransferIdentity = Pick<Transfer, "transactionHash" | "referenceHash" | "ordinal">;

/** Returns a key that is the same for all transfers with the same identity, in any block. */
export const toTransferKey = ({
  transactionHash,
  referenceHash,
  ordinal,
}: TransferIdentity): string => `${transactionHash} ${referenceHash} ${ordinal}`;

/**
 * Converts a stored transfer with its status on chain to a payment report. Returns undefined while
 * its link is unknown.
 */
export const transferToPaymentReport = (
  storedTransfer: StoredTransfer,
  status: PaymentReport["status"],
): PaymentReport | undefined => {
  if (storedTransfer.paymentLinkId === null) return undefined;
  return {
    source: getChainSource(storedTransfer.chainId),
    sourceId: `${storedTransfer.transactionHash}:${storedTransfer.paymentLinkId}:${storedTransfer.ordinal}`,
    paymentLinkId: storedTransfer.paymentLinkId,
    status,
    amount: storedTransfer.amount,
    tokenAddress: storedTransfer.tokenAddress,
    chainId: storedTransfer.chainId,
    destinationAddress: storedTransfer.destinationAddress,
    sourceTransaction: storedTransfer.transactionHash,
    occurredAt: storedTransfer.occurredAt,
    blockNumber: storedTransfer.isOrphaned ? null : storedTransfer.blockNumber,
    isOrphaned: storedTransfer.isOrphaned && status !== "failed",
    payer: storedTransfer.payer,
  };
};
