import type { LinkStatus, LinkTexts } from "@payment-links/contracts";

/**
 * A payment link as read for responses and pages. No decisions are based on it, so its amounts stay
 * decimal strings, as in the row and on the wire.
 */
export type LinkView = LinkTexts & {
  id: string;
  userId: string;
  status: LinkStatus;
  toAmount: string;
  receivedAmount: string;
  currentUsage: number;
  maxUsage: number | null;
  createdAt: Date;
  expiresAt: Date | null;
  walletId: string;
  walletProvider: string | null;
  destinationAddress: string;
  tokenId: string;
  /** Only the checkout returns it (rule CHAIN-11). */
  paymentReference: string;
  lastTransactionId: string | null;
};

/** The public fields of a link's owner, as last received. An owner of links always has a handle. */
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
  wallets: { id: string; isDefault: boolean; isChainDefault: boolean }[];
  isSuspended?: boolean | undefined;
  isVerified?: boolean | undefined;
};

/**
 * Returns whether the operator vouches for a seller. Records of earlier releases lack `isVerified`
 * and cause no warning.
 */
export const isVerifiedSeller = ({ isVerified }: Pick<OwnerView, "isVerified">): boolean =>
  isVerified !== false;

export type OwnedLinkView = LinkView & { owner: OwnerView };
