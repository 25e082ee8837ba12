import { Decimal } from "@payment-links/contracts";

/** An order as its shop placed it; its link has an id once the API has returned it. */
export type Order = {
  number: number;
  account: number;
  toAmount: number;
  maxUsage: number | null;
  expiresAt: Date | null;
  linkId: string | undefined;
  /** Whether its owner has requested deactivation, and whether the request has succeeded. */
  isDeactivationRequested: boolean;
  isDeactivated: boolean;
  /**
   * Transactions that the listener knew before the order was placed: none of them pays its link
   * (rule CHAIN-28).
   */
  previouslyKnownHashes: ReadonlySet<string>;
  /** Names the link in an on-chain payment; undefined until the checkout has returned it. */
  reference: string | undefined;
};

/** Why a payment is never applied, in any state of its link. */
export type Flaw = "wrong_token" | "wrong_destination" | "wrong_amount";

/** A transfer as it really happened, independent of any report. */
export type ModelTransfer = {
  number: number;
  /** Unique among the transfers of one transaction. */
  amount: string;
  /** When its payer sent it; no provider can have seen it earlier. */
  sentAt: Date;
  /** Its block's time, once it is in a block. */
  occurredAt: Date;
  /** The hash of its payer's transaction, which identifies the payment in every API and event. */
  hash: string;
  /** The final status; only a settled transfer is received money. */
  finalStatus: "settled" | "failed";
  /** Whether the final status was reported to the system at least once, or is final on its chain. */
  isFinal: boolean;
  isOnChain: boolean;
  /** A deep fork has orphaned it for good: it may have been applied before, but need not have been. */
  isDoubtful: boolean;
  /** A deep fork has moved it to a later block: it may have been applied with the first block's time. */
  isMovedToLaterBlock: boolean;
  /** It was never sent; a misreporting node invented it. */
  isForged: boolean;
  /**
   * It failed without any proof on its chain: all nodes dropped it, or a transaction whose output
   * it spends.
   */
  isUndecidable: boolean;
  /**
   * It failed because it spends an output of a transaction that will never be mined. The chain
   * proves that only to an observer that knows the dependency.
   */
  isOrphan: boolean;
  /** A pruned node omitted its block without an error. */
  isOmittedByPrunedNode: boolean;
  /** It is on its chain, and a provider's notice reports it as well. */
  isAlsoReportedByProvider: boolean;
};

/** The state of a transfer that was just created. */
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

/** A transfer for an order: its payer named the link, or its owner assigned it later. */
export type Payment = ModelTransfer & { order: Order; flaw: Flaw | undefined };

/** How APIs and events identify a payment. */
export type PaymentIdentity = { sourceTransaction: string; amount: string };

/** Returns true if the identity is that of the transfer. */
export const matchesIdentity = (
  { amount, hash }: ModelTransfer,
  identity: PaymentIdentity,
): boolean => identity.sourceTransaction === hash && areEqualAmounts(amount, identity.amount);

const areEqualAmounts = (amount: string, otherAmount: string): boolean =>
  new Decimal(amount).equals(otherAmount);

/** Formats a payment's identity; empty if there is none. */
export const formatIdentity = (identity: PaymentIdentity | undefined): string =>
  identity === undefined
    ? ""
    : `${identity.sourceTransaction} ${new Decimal(identity.amount).toFixed()}`;
