import {
  type Account,
  type PaymentLinkData,
  type RetrievedPaymentLink,
  type UserData,
  checkoutPageUrl,
  linkTexts,
  transactionPageUrl,
} from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { LinkView, OwnedLinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";

type Context = { handle: string; now: Date };

/** Shows a link as lists have it (rules API-7, API-10). */
export const showListedLink = (
  deps: Deps,
  link: LinkView,
  { handle, now }: Context,
): PaymentLinkData => ({
  id: link.id,
  userId: link.userId,
  toAmount: link.toAmount,
  destinationAddress: link.destinationAddress,
  url: checkoutPageUrl(deps.checkoutUrl, handle, link.id),
  dateCreated: link.createdAt.toISOString(),
  token: deps.tokenOf(link.tokenId).shown,
  status: statusAt(link, now),
  ...linkTexts(link),
  maxUsage: link.maxUsage,
  receivedAmount: link.receivedAmount,
  expirationDate: link.expiresAt?.toISOString() ?? null,
  transactionUrl: null,
});

/** Shows one link, with the page of its last payment once it is completed (rule API-10). */
export const showLink = (deps: Deps, link: LinkView, context: Context): PaymentLinkData => {
  const shown = showListedLink(deps, link, context);
  if (link.status === "completed" && link.lastTransactionId !== null) {
    shown.transactionUrl = transactionPageUrl(deps.checkoutUrl, link.lastTransactionId);
  }
  return shown;
};

/** Shows a link with its owner's public profile (rule API-6). */
export const showRetrievedLink = (
  deps: Deps,
  link: OwnedLinkView,
  now: Date,
): RetrievedPaymentLink => {
  const shown = showLink(deps, link, { handle: link.owner.handle, now });
  return Object.assign(shown, { user: showOwner(deps, link) });
};

/** The handle of an account that has links. A handle can only be replaced, never removed. */
export const handleOf = (account: Account): string => {
  if (account.handle === null) throw new Error("an account with payment links has no handle");
  return account.handle;
};

const showOwner = (deps: Deps, link: OwnedLinkView): UserData => {
  const { owner } = link;
  const { token, shown } = deps.tokenOf(link.tokenId);
  // The link's own wallet, with its present flags (rule API-11).
  const wallet = owner.wallets.find(({ id }) => id === link.walletId);
  return {
    id: owner.id,
    handle: owner.handle,
    username: owner.username,
    dateCreated: owner.dateCreated,
    wallet: {
      walletAddress: link.destinationAddress,
      token: { id: link.tokenId, token: shown },
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
