import { type Decimal, getChainSource } from "@payment-links/contracts";
import type { PaymentReport } from "./payment.ts";

/** A payment, or a deposit, as its receipt proved it in one block. */
export type Transfer = {
  chainId: string;
  transactionHash: string;
  referenceHash: string;
  /**
   * Its number among the payments of its reference in the receipt, 0 for nearly all; on Bitcoin the index
   * of its output.
   */
  ordinal: number;
  blockNumber: number;
  blockHash: string;
  /** The block's own time, by which a payment is early or late. */
  occurredAt: Date;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  sender: string;
  /** Who sent a deposit; a payment has none. */
  payer?: string | undefined;
  /** Undefined where it had settled before anybody could ask. */
  nonce: number | undefined;
  /** Whether its block is as deep as the chain's policy asks. */
  status: TransferStatus;
};

type TransferStatus = "seen" | "settled";

/** A transfer as it is stored: what is its chain's, and whose it is. */
export type StoredTransfer = Omit<Transfer, "nonce" | "status"> & {
  nonce: number | null;
  /** A reorg took it away: it stands in no block that we know of. */
  isOrphaned: boolean;
  /** Of a deposit its own id. */
  paymentLinkId: string | null;
};

/** What names a transfer on its chain, however often and wherever it is mined. */
export type TransferIdentity = Pick<Transfer, "transactionHash" | "referenceHash" | "ordinal">;

/** The same text for whatever is of one name, wherever it stands. */
export const toTransferKey = ({
  transactionHash,
  referenceHash,
  ordinal,
}: TransferIdentity): string => `${transactionHash} ${referenceHash} ${ordinal}`;

/**
 * The sighting that a stored transfer makes of its payment, of which its chain says `status`.
 * Undefined while no link is known.
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
