import type { LinkStatus, LinkTexts, Mode } from "@payment-links/contracts";

/**
 * A payment link as read for responses and pages. It is not used for decisions, so its amounts stay
 * decimal strings, as in the database and in the API.
 */
export type LinkView = LinkTexts & {
  id: string;
  userId: string;
  mode: Mode;
  status: LinkStatus;
  toAmount: string;
  receivedAmount: string;
  currentUsage: number;
  maxUsage: number | null;
  createdAt: Date;
  expiresAt: Date | null;
  deactivatedAt: Date | null;
  walletId: string;
  walletProvider: string | null;
  destinationAddress: string;
  tokenId: string;
  /** Only the checkout returns it (rule CHAIN-11). */
  paymentReference: string;
  lastTransactionId: string | null;
};

/**
 * The public fields of a link's owner, as last received. An account that owns links always has a
 * handle.
 */
export type OwnerView = {
  id: string;
  handle: string;
  username: string;
  dateCreated: string;
  profileImage: string | null;
  bio: string | null;
  backgroundImage: string | null;
  backgroundColour: string | null;
  links: string[] | null;
  /** The URL to which payers return after a payment (rule API-39). */
  returnUrl: string | null;
  wallets: { id: string; isDefault: boolean; isChainDefault: boolean }[];
  isSuspended?: boolean | undefined;
  isVerified?: boolean | undefined;
};

/**
 * Returns whether the operator has verified a seller. Records from earlier releases do not have
 * `isVerified`. They count as verified, so the checkout does not show a warning.
 */
export const isVerifiedSeller = ({ isVerified }: Pick<OwnerView, "isVerified">): boolean =>
  isVerified !== false;

export type OwnedLinkView = LinkView & { owner: OwnerView };
