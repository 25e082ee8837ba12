import type { LinkStatus, LinkTexts } from "@payment-links/contracts";

/**
 * A payment link as it is shown. It decides nothing, so its amounts stay the decimal text that the
 * row and the wire share.
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
  /** Only the checkout tells it (rule CHAIN-11). */
  paymentReference: string;
  lastTransactionId: string | null;
};

/** What is shown of a link's owner, as last heard. An owner of links always has a handle. */
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

/** Returns whether the operator vouches for a seller. Records of earlier releases do not say, and warn nobody. */
export const isVerifiedSeller = ({ isVerified }: Pick<OwnerView, "isVerified">): boolean =>
  isVerified !== false;

export type OwnedLinkView = LinkView & { owner: OwnerView };
