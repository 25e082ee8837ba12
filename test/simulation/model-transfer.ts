import { Decimal } from "@payment-links/contracts";

/** An order as its shop placed it. Its link has an ID after the API has returned it. */
export type Order = {
  number: number;
  account: number;
  toAmount: number;
  maxUsage: number | null;
  expiresAt: Date | null;
  linkId: string | undefined;
  /**
   * Whether the owner has requested to deactivate the link, and whether the request has succeeded.
   */
  isDeactivationRequested: boolean;
  isDeactivated: boolean;
  /**
   * Transactions that the listener knew before the order was placed. They must not pay the order's
   * link (rule CHAIN-28).
   */
  previouslyKnownHashes: ReadonlySet<string>;
  /**
   * The reference that names the link in an on-chain payment. Undefined until the checkout has
   * returned it.
   */
  reference: string | undefined;
};

/** The reason why a payment is never applied, independent of the state of its link. */
export type Flaw = "wrong_token" | "wrong_destination" | "wrong_amount";

/** A transfer as it really happened, independent of any report. */
export type ModelTransfer = {
  number: number;
  /** Unique among the transfers of one transaction. */
  amount: string;
  /** When the payer sent the transfer. Providers cannot report it earlier. */
  sentAt: Date;
  /** The time of its block, if it is in a block. */
  occurredAt: Date;
  /** The hash of the payer's transaction. It identifies the payment in every API and event. */
  hash: string;
  /** The final status. Only a settled transfer is received money. */
  finalStatus: "settled" | "failed";
  /** Whether the final status was reported to the system at least once or is final on the chain. */
  isFinal: boolean;
  isOnChain: boolean;
  /** A deep fork has permanently orphaned the transfer. It can have been applied before that. */
  isDoubtful: boolean;
  /**
   * A deep fork has moved the transfer to a later block. It can have been applied with the time of
   * the first block.
   */
  isMovedToLaterBlock: boolean;
  /** The transfer was never sent. A misreporting node invented it. */
  isForged: boolean;
  /**
   * The transfer failed without a proof on the chain: all nodes dropped its transaction, or a
   * transaction whose output it spends.
   */
  isUndecidable: boolean;
  /**
   * The transfer failed because it spends an output of a transaction that will never be mined. The
   * chain proves this only to an observer that knows the dependency.
   */
  isOrphan: boolean;
  /** A pruned node omitted its block without an error. */
  isOmittedByPrunedNode: boolean;
  /** The transfer is on the chain, and a provider's notice also reports it. */
  isAlsoReportedByProvider: boolean;
};

/** The initial state of a transfer. */
export const initialTransferState = {
  hash: "",
  finalStatus: "settled",
  isFinal: false,
  isOnChain: true,
  isDoubtful: false,
  isMovedToLaterBlock: false,
  isForged: false,
  isUndecidable: false,
  isOrphan: false,
  isOmittedByPrunedNode: false,
  isAlsoReportedByProvider: false,
} as const;

/** A transfer to an address before a link had that address. */
export type EarlyTransfer = { transfer: ModelTransfer; address: string };

/** A transfer for an order. Its payer named the link, or the owner assigned it later. */
export type Payment = ModelTransfer & { order: Order; flaw: Flaw | undefined };

/** The fields by which APIs and events identify a payment. */
export type PaymentIdentity = { sourceTransaction: string; amount: string };

/** Returns true if the identity belongs to the transfer. */
export const matchesIdentity = (
  { amount, hash }: ModelTransfer,
  identity: PaymentIdentity,
): boolean => identity.sourceTransaction === hash && areEqualAmounts(amount, identity.amount);

const areEqualAmounts = (amount: string, otherAmount: string): boolean =>
  new Decimal(amount).equals(otherAmount);

/** Formats a payment's identity. Returns an empty string if there is none. */
export const formatIdentity = (identity: PaymentIdentity | undefined): string =>
  identity === undefined
    ? ""
    : `${identity.sourceTransaction} ${new Decimal(identity.amount).toFixed()}`;
