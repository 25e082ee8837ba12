import type { Decimal } from "@payment-links/contracts";
import type { Sighting } from "./payment.ts";

/**
 * How far a transfer's chain vouches for it: it was seen in a block, settled by the chain's policy,
 * is in a final block, or failed for good.
 */
export const transferStates = ["seen", "settled", "final", "failed"] as const;
export type TransferState = (typeof transferStates)[number];

/** A payment through a fee proxy, as its receipt proved it in one block. */
export type ChainTransfer = {
  chainId: string;
  transactionHash: string;
  referenceHash: string;
  /** Its number among the payments of its reference in the receipt, 0 for nearly all. */
  ordinal: number;
  blockNumber: number;
  blockHash: string;
  /** The block's own time, by which a payment is early or late. */
  occurredAt: Date;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  sender: string;
  /** Undefined where it was final before anybody could ask. */
  nonce: number | undefined;
  state: TransferState;
};

/** A transfer as it is stored, and as it stands now. */
export type StoredTransfer = Omit<ChainTransfer, "nonce"> & {
  nonce: number | null;
  isOrphaned: boolean;
  paymentLinkId: string | null;
};

/** What names a transfer on its chain, however often and wherever it is mined. */
export type TransferName = Pick<ChainTransfer, "transactionHash" | "referenceHash" | "ordinal">;

const statuses = {
  seen: "processing",
  settled: "settled",
  final: "settled",
  failed: "failed",
} as const;

/** Names a chain's payments apart from those of every other source. */
const chainSource = (chainId: string): string => `evm:${chainId}`;

/**
 * The sighting that a stored transfer makes of its payment. Undefined while there is none: no link
 * is known, or it was orphaned before it settled, and its payment goes on waiting as it is.
 */
export const sightingOfTransfer = (stored: StoredTransfer): Sighting | undefined => {
  if (stored.paymentLinkId === null) return undefined;
  if (stored.isOrphaned && stored.state === "seen") return undefined;
  return {
    source: chainSource(stored.chainId),
    sourceId: `${stored.transactionHash}:${stored.paymentLinkId}:${stored.ordinal}`,
    paymentLinkId: stored.paymentLinkId,
    status: statuses[stored.state],
    amount: stored.amount,
    tokenAddress: stored.tokenAddress,
    chainId: stored.chainId,
    destinationAddress: stored.destinationAddress,
    sourceTransaction: stored.transactionHash,
    occurredAt: stored.occurredAt,
    ...(statuses[stored.state] === "settled" ? { isOrphaned: stored.isOrphaned } : {}),
  };
};
