import { type Decimal, chainSource } from "@payment-links/contracts";
import type { Sighting } from "./payment.ts";

/** A payment, or a deposit, as its receipt proved it in one block. */
export type ChainTransfer = {
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
  state: TransferState;
};

type TransferState = "seen" | "settled";

/** A transfer as it is stored: what is its chain's, and whose it is. */
export type StoredTransfer = Omit<ChainTransfer, "nonce" | "state"> & {
  nonce: number | null;
  /** A reorg took it away: it stands in no block that we know of. */
  isOrphaned: boolean;
  /** Of a deposit its own id. */
  paymentLinkId: string | null;
};

/** What names a transfer on its chain, however often and wherever it is mined. */
export type TransferName = Pick<ChainTransfer, "transactionHash" | "referenceHash" | "ordinal">;

/** The same text for whatever is of one name, wherever it stands. */
export const transferKey = ({ transactionHash, referenceHash, ordinal }: TransferName): string =>
  `${transactionHash} ${referenceHash} ${ordinal}`;

/**
 * The sighting that a stored transfer makes of its payment, of which its chain says `status`.
 * Undefined while no link is known.
 */
export const sightingOfTransfer = (
  stored: StoredTransfer,
  status: Sighting["status"],
): Sighting | undefined => {
  if (stored.paymentLinkId === null) return undefined;
  return {
    source: chainSource(stored.chainId),
    sourceId: `${stored.transactionHash}:${stored.paymentLinkId}:${stored.ordinal}`,
    paymentLinkId: stored.paymentLinkId,
    status,
    amount: stored.amount,
    tokenAddress: stored.tokenAddress,
    chainId: stored.chainId,
    destinationAddress: stored.destinationAddress,
    sourceTransaction: stored.transactionHash,
    occurredAt: stored.occurredAt,
    blockNumber: stored.isOrphaned ? null : stored.blockNumber,
    isOrphaned: stored.isOrphaned && status !== "failed",
    payer: stored.payer,
  };
};
