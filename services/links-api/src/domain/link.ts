import { getFamily } from "@payment-links/chains";
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
  type inactiveReasons,
  pickLinkTexts,
  createApiError,
  type Wallet,
  type Mode,
  requireModeAvailable,
} from "@payment-links/contracts";
import { isNeverPayable } from "./payable-amount.ts";

/**
 * A payment link as stored. `status` is the last stored value: a link whose expiry has passed can
 * still be stored as active. {@link statusAt} returns the current status. Destination, chain and
 * token never change.
 */
export type Link = LinkTexts & {
  id: string;
  userId: string;
  mode: Mode;
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
  /**
   * 16 random bytes in hex. A payment on chain contains them to identify its link. The `/v1` API
   * never returns them.
   */
  paymentReference: string;
  lastTransactionId: string | null;
};

/**
 * An account that can be paid: its handle, the wallet that receives the payments of new links, and
 * the wallet's token.
 */
export type PayableAccount = {
  id: string;
  mode: Mode;
  handle: string;
  wallet: Wallet;
  token: CatalogueToken;
};

/**
 * Returns how an account is paid in a mode. Throws a 409 error if the account does not have a
 * handle or a default wallet of this mode, if its default wallet is a single address although each
 * link needs its own, or if the installation has no test network for test mode.
 */
export const requirePayableAccount = (
  account: Account,
  catalogue: Catalogue,
  mode: Mode,
): PayableAccount => {
  requireModeAvailable(catalogue, mode);
  const wallet = findDefaultWallet(account, mode);
  const token = wallet === undefined ? undefined : catalogue.findToken(wallet.tokenId);
  if (account.handle === null || wallet === undefined || token === undefined) {
    throw createApiError("PAYMENT_LINK_ACCOUNT_NOT_READY");
  }
  const { linkAddresses } = getFamily(token.chain.chainType);
  const isSingleAddress = linkAddresses?.isKey(wallet.walletAddress) === false;
  if (isSingleAddress) throw createApiError("PAYMENT_LINK_ACCOUNT_NOT_READY");
  return { id: account.id, mode, handle: account.handle, wallet, token };
};

/**
 * Builds a link from a request. The caller adds the destination, because a link's own address is
 * not allocated until the link is stored. Rejects an amount with too many decimals or digits for
 * the owner's token (rule API-14), and an amount that payments on the token's chain can never add
 * up to (rule API-36).
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
    mode: owner.mode,
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

/**
 * Returns a link's status at a given time. An active link becomes inactive when it expires (rule
 * STATE-3).
 */
export const statusAt = (link: Pick<Link, "status" | "expiresAt">, now: Date): LinkStatus =>
  link.status === "active" && link.expiresAt !== null && link.expiresAt <= now
    ? "inactive"
    : link.status;

/** Returns why a link is inactive at a given time, and null if it is not. */
export const getInactiveReason = (
  link: Pick<Link, "status" | "expiresAt" | "deactivatedAt">,
  now: Date,
): (typeof inactiveReasons)[number] | null => {
  if (statusAt(link, now) !== "inactive") return null;
  return link.deactivatedAt === null ? "expired" : "deactivated";
};

/**
 * Returns the deactivated link. Throws `PAYMENT_LINK_NOT_ACTIVE` if the link is no longer active.
 */
export const deactivateLink = (link: Link, now: Date): Link => {
  if (statusAt(link, now) !== "active") throw createApiError("PAYMENT_LINK_NOT_ACTIVE");
  return { ...link, status: "inactive", deactivatedAt: now, version: link.version + 1 };
};

/**
 * Returns a link that expires now. Throws `PAYMENT_LINK_NOT_ACTIVE` if the link is no longer
 * active.
 */
export const expireLink = (link: Link, now: Date): Link => {
  if (statusAt(link, now) !== "active") throw createApiError("PAYMENT_LINK_NOT_ACTIVE");
  return { ...link, status: "inactive", expiresAt: now, version: link.version + 1 };
};

/** Returns a link's full state at a given time, in the form that events contain. */
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
  mode: link.mode,
});

const zero = new Decimal(0);
