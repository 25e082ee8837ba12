import { Decimal } from "@payment-links/contracts";

/** An order as its shop placed it; its link has an id once the API has told it. */
export type Order = {
  number: number;
  account: number;
  toAmount: number;
  maxUsage: number | null;
  expiresAt: Date | null;
  linkId: string | undefined;
  /** Whether its owner has asked to deactivate it, and whether that has been answered. */
  isDeactivationRequested: boolean;
  isDeactivated: boolean;
  /** Transactions that the listener knew before the order was placed: none of them pays its link (rule CHAIN-28). */
  previouslyKnownHashes: ReadonlySet<string>;
  /** By which a payment on chain names the link; undefined until the checkout has told it. */
  reference: string | undefined;
};

/** Why a payment never counts, whatever its link's state. */
export type Flaw = "wrong_token" | "wrong_destination" | "wrong_amount";

/** What somebody pays, as it truly is, whoever tells of it. */
export type ModelTransfer = {
  number: number;
  /** Of all that one transaction pays no two are of one amount. */
  amount: string;
  /** When its payer sent it: no provider can have seen it before. */
  sentAt: Date;
  /** Its block's time, once it is in one. */
  occurredAt: Date;
  /** What its payer's transaction is called: it names the payment on every wire. */
  hash: string;
  /** How it ends; what is settled is money. */
  finalStatus: "settled" | "failed";
  /** Whether the end has been told to the system at least once, or is final on its chain. */
  isFinal: boolean;
  isOnChain: boolean;
  /** A fork below what was final has taken it away: it may have counted before, and need not. */
  isDoubtful: boolean;
  /** Such a fork has moved it to a later block: it may have counted by the time of the first. */
  isMovedToLaterBlock: boolean;
  /** Nobody made it: a lying node told of it. */
  isForged: boolean;
  /** It has failed, and nothing on its chain tells so: it was forgotten, or what it spends was. */
  isUndecidable: boolean;
  /** It has failed as what it spends will never be: the chain shows that to whoever knows on what it depends. */
  isOrphan: boolean;
  /** A node that has pruned was asked for its block, and left it out as if it had never been. */
  isOmittedByPrunedNode: boolean;
  /** It is on its chain, and a provider's notice reports it as well. */
  isAlsoReportedByProvider: boolean;
};

/** What nothing has happened to yet. */
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

/** Money that somebody sent to an address before a link had it. */
export type EarlyTransfer = { transfer: ModelTransfer; address: string };

/** Money for an order: its payer has named the link, or its owner has said so afterwards. */
export type Payment = ModelTransfer & { order: Order; flaw: Flaw | undefined };

/** How every wire names a payment. */
export type PaymentIdentity = { sourceTransaction: string; amount: string };

/** Whether money is what a wire tells of. */
export const matchesIdentity = (
  { amount, hash }: ModelTransfer,
  identity: PaymentIdentity,
): boolean => identity.sourceTransaction === hash && areEqualAmounts(amount, identity.amount);

const areEqualAmounts = (amount: string, otherAmount: string): boolean =>
  new Decimal(amount).equals(otherAmount);

/** A payment by its name; nothing where there is none. */
export const formatIdentity = (identity: PaymentIdentity | undefined): string =>
  identity === undefined
    ? ""
    : `${identity.sourceTransaction} ${new Decimal(identity.amount).toFixed()}`;
