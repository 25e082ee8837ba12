import { getChainSource } from "@payment-links/chains";
import type { Decimal } from "@payment-links/contracts";
import type { PaymentReport } from "./payment.ts";

/** A payment or deposit in one block, as proved by its receipt. */
export type Transfer = {
  chainId: string;
  transactionHash: string;
  referenceHash: string;
  /**
   * The index among the receipt's payments with the same reference, usually 0. On Bitcoin, the
   * index of the output.
   */
  ordinal: number;
  blockNumber: number;
  blockHash: string;
  /** The block's timestamp. It determines whether a payment is in time. */
  occurredAt: Date;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  sender: string;
  /** The sender that the token's transfer reports. Undefined if the chain reports none. */
  payer?: string | undefined;
  /** Set for a deposit. A stored deposit has the deposit's own id as its link. */
  isDeposit?: true;
  /** Undefined while unknown. A transfer that settled before its nonce was requested has none. */
  nonce: number | undefined;
  /** Whether the block is deep enough for the chain's finality setting. */
  status: TransferStatus;
};

type TransferStatus = "seen" | "settled";

/** A transfer as stored, with its link. */
export type StoredTransfer = Omit<Transfer, "isDeposit" | "nonce" | "status"> & {
  nonce: number | null;
  /** Whether no known block contains the transfer, for example after a reorg. */
  isOrphaned: boolean;
  /** For a deposit, the deposit's own id. */
  paymentLinkId: string | null;
};

/** The identity of a transfer on its chain. It does not depend on the block. */
export type TransferIdentity = Pick<Transfer, "transactionHash" | "referenceHash" | "ordinal">;

/** Returns a transfer's identity as a string. */
export const toTransferKey = ({
  transactionHash,
  referenceHash,
  ordinal,
}: TransferIdentity): string => `${transactionHash} ${referenceHash} ${ordinal}`;

/**
 * Converts a stored transfer, with its status on chain, to a payment report. Returns undefined
 * while its link is unknown.
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
