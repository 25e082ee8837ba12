import type * as z from "zod";
import { type CheckoutLink, type CheckoutQuery } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { type ChainPaymentName, chainPaymentName } from "../domain/chain-payment-name.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import type { Wish } from "../domain/payment-instructions.ts";
import { findNamedPayment } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { showCheckoutLink } from "./show-checkout-link.ts";

/** How the payments are named that a transaction makes on a link. */
export const paymentNameOn = (
  deps: Deps,
  link: OwnedLinkView,
  transactionHash: string,
): ChainPaymentName => {
  const { chain } = deps.tokenOf(link.tokenId).token;
  return chainPaymentName({ chainId: chain.id, transactionHash, linkId: link.id });
};

/** Reads how a link stands right now and how it is paid on its chain, as the checkout tells it. */
export const readCheckoutLink = async (
  deps: Deps,
  linkId: string,
  {
    amount,
    isEndIgnored,
    sourceTransaction,
  }: z.output<typeof CheckoutQuery> & Pick<Wish, "isEndIgnored">,
): Promise<CheckoutLink> => {
  const [link, pending] = await Promise.all([
    readLink(deps, linkId),
    deps.listPendingPayments(linkId),
  ]);
  const now = deps.clock.now();
  const [advice, wrongToken] = await Promise.all([
    deps.advisePayer(link, { amount, now, isEndIgnored }),
    deps.findWrongToken(link),
  ]);
  const followed =
    sourceTransaction === undefined
      ? undefined
      : await findNamedPayment(deps.pool, paymentNameOn(deps, link, sourceTransaction));
  return showCheckoutLink(deps, link, { advice, pending, followed, wrongToken, now });
};
