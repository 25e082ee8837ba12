import {
  type Account,
  type Catalogue,
  type CatalogueToken,
  type CreateLinkBody,
  Decimal,
  type LinkStatus,
  type LinkTexts,
  type PaymentLinkState,
  findDefaultWallet,
  fitsBaseUnits,
  fitsDecimals,
  createValidationError,
  isBitcoinDescriptor,
  pickLinkTexts,
  createApiError,
  type Wallet,
} from "@payment-links/contracts";
import { isNeverPayable } from "./payable-amount.ts";

/**
 * A payment link as it is kept. `status` is what was last set. Once the expiry has passed, only
 * {@link statusAt} tells the truth. Destination, chain and token never change.
 */
export type Link = LinkTexts & {
  id: string;
  userId: string;
  version: number;
  status: LinkStatus;
  toAmount: Decimal;
  receivedAmount: Decimal;
  currentUsage: number;
  maxUsage: number | null;
  createdAt: Date;
  expiresAt: Date | null;
  deactivatedAt: Date | null;
  walletId: string;
  walletProvider: string | null;
  destinationAddress: string;
  tokenId: string;
  chainId: string;
  tokenAddress: string;
  /** 16 random bytes in hex, by which a payment on chain names its link; never told by the API. */
  paymentReference: string;
  lastTransactionId: string | null;
};

/**
 * An account that can be paid: its handle, the wallet that new links settle to, and the wallet's
 * token.
 */
export type PayableAccount = { id: string; handle: string; wallet: Wallet; token: CatalogueToken };

/**
 * Answers how an account is paid, or refuses if it has no handle or no default wallet, or one on Bitcoin
 * that is not a key (409).
 */
export const requirePayableAccount = (account: Account, catalogue: Catalogue): PayableAccount => {
  const wallet = findDefaultWallet(account);
  const token = wallet === undefined ? undefined : catalogue.findToken(wallet.tokenId);
  if (account.handle === null || wallet === undefined || token === undefined) {
    throw createApiError("PAYMENT_LINK_ACCOUNT_NOT_READY");
  }
  const isSingleAddress =
    token.chain.chainType === "BVM" && !isBitcoinDescriptor(wallet.walletAddress);
  if (isSingleAddress) throw createApiError("PAYMENT_LINK_ACCOUNT_NOT_READY");
  return { id: account.id, handle: account.handle, wallet, token };
};

/**
 * Decides whether an order becomes a link of its owner; where it is paid to, its writer adds, as an
 * address on Bitcoin is taken only then. Refuses an amount that is too fine or too long for the owner's
 * token (rule API-14), or that no payment on its chain can have (rule API-36).
 */
export const buildLink = (
  { toAmount, ...details }: CreateLinkBody,
  owner: PayableAccount,
  generated: { id: string; paymentReference: string; now: Date },
): Omit<Link, "destinationAddress"> => {
  const { wallet, token } = owner;
  if (!fitsDecimals(toAmount, token.decimals)) throw createApiError("INVALID_PAYMENT_LINK_AMOUNT");
  if (!fitsBaseUnits(toAmount, token.decimals)) throw createValidationError("decimal_max_digits");
  if (isNeverPayable(toAmount, token)) throw createApiError("AMOUNT_NOT_PAYABLE");
  return {
    id: generated.id,
    userId: owner.id,
    version: 1,
    status: "active",
    toAmount,
    receivedAmount: zero,
    currentUsage: 0,
    maxUsage: details.maxUsage ?? null,
    ...pickLinkTexts(details),
    createdAt: generated.now,
    expiresAt: details.expirationDate ?? null,
    deactivatedAt: null,
    walletId: wallet.id,
    walletProvider: wallet.provider,
    tokenId: token.id,
    chainId: token.chain.id,
    tokenAddress: token.address,
    paymentReference: generated.paymentReference,
    lastTransactionId: null,
  };
};

/** A link's status at an instant: an active one is inactive from its expiry on (rule STATE-3). */
export const statusAt = (link: Pick<Link, "status" | "expiresAt">, now: Date): LinkStatus =>
  link.status === "active" && link.expiresAt !== null && link.expiresAt <= now
    ? "inactive"
    : link.status;

/** Decides a deactivation; refuses if the link is not active any more. */
export const deactivateLink = (link: Link, now: Date): Link => {
  if (statusAt(link, now) !== "active") throw createApiError("PAYMENT_LINK_NOT_ACTIVE");
  return { ...link, status: "inactive", deactivatedAt: now, version: link.version + 1 };
};

/** A link's whole state at an instant, as its events carry it. */
export const toLinkState = (link: Link, now: Date): PaymentLinkState => ({
  id: link.id,
  version: link.version,
  userId: link.userId,
  status: statusAt(link, now),
  toAmount: link.toAmount,
  receivedAmount: link.receivedAmount,
  currentUsage: link.currentUsage,
  maxUsage: link.maxUsage,
  ...pickLinkTexts(link),
  expirationDate: link.expiresAt,
  destinationAddress: link.destinationAddress,
  chainId: link.chainId,
  tokenAddress: link.tokenAddress,
  paymentReference: link.paymentReference,
  dateCreated: link.createdAt,
});

const zero = new Decimal(0);
