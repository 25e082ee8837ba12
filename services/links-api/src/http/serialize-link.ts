import {
  type Account,
  type PaymentLinkData,
  type RetrievedPaymentLink,
  type UserData,
  buildCheckoutPageUrl,
  pickLinkTexts,
  buildTransactionPageUrl,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import type { LinkView, OwnedLinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";

type SerializationContext = { handle: string; now: Date };

/** Serializes a link as it appears in lists (rules API-7, API-10). */
export const serializeListedLink = (
  dependencies: Dependencies,
  link: LinkView,
  { handle, now }: SerializationContext,
): PaymentLinkData => ({
  id: link.id,
  userId: link.userId,
  toAmount: link.toAmount,
  destinationAddress: link.destinationAddress,
  url: buildCheckoutPageUrl(dependencies.checkoutUrl, handle, link.id),
  dateCreated: link.createdAt.toISOString(),
  token: dependencies.getToken(link.tokenId).tokenData,
  status: statusAt(link, now),
  ...pickLinkTexts(link),
  maxUsage: link.maxUsage,
  receivedAmount: link.receivedAmount,
  expirationDate: link.expiresAt?.toISOString() ?? null,
  transactionUrl: null,
});

/**
 * Serializes a single link. A completed link includes the URL of its last payment's receipt (rule
 * API-10).
 */
export const serializeLink = (
  dependencies: Dependencies,
  link: LinkView,
  context: SerializationContext,
): PaymentLinkData => {
  const data = serializeListedLink(dependencies, link, context);
  if (link.status === "completed" && link.lastTransactionId !== null) {
    data.transactionUrl = buildTransactionPageUrl(dependencies.checkoutUrl, link.lastTransactionId);
  }
  return data;
};

/** Serializes a link with its owner's public profile (rule API-6). */
export const serializeRetrievedLink = (
  dependencies: Dependencies,
  link: OwnedLinkView,
  now: Date,
): RetrievedPaymentLink => {
  const data = serializeLink(dependencies, link, { handle: link.owner.handle, now });
  return Object.assign(data, { user: serializeOwner(dependencies, link) });
};

/**
 * Returns the handle of an account that has links. Such an account always has a handle, because a
 * handle can be replaced but not removed.
 */
export const requireHandle = (account: Account): string => {
  if (account.handle === null) throw new Error("the account has payment links but no handle");
  return account.handle;
};

const serializeOwner = (dependencies: Dependencies, link: OwnedLinkView): UserData => {
  const { owner } = link;
  const { token, tokenData } = dependencies.getToken(link.tokenId);
  // The wallet of the link, with the wallet's current flags (rule API-11).
  const wallet = owner.wallets.find(({ id }) => id === link.walletId);
  return {
    id: owner.id,
    handle: owner.handle,
    username: owner.username,
    dateCreated: owner.dateCreated,
    wallet: {
      walletAddress: link.destinationAddress,
      token: { id: link.tokenId, token: tokenData },
      chainType: token.chain.chainType,
      isDefault: wallet?.isDefault ?? false,
      isChainDefault: wallet?.isChainDefault ?? false,
      provider: link.walletProvider,
    },
    profileImage: owner.profileImage,
    bio: owner.bio,
    backgroundImage: owner.backgroundImage,
    backgroundColour: owner.backgroundColour,
    links: owner.links,
    isMooveUser: true,
    contact: null,
    badges: null,
  };
};
