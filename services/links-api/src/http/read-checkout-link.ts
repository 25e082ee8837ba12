import type * as z from "zod";
import { type CheckoutLink, type CheckoutQuery } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { chainPaymentId } from "../domain/chain-payment-id.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { findPayment } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { showCheckoutLink } from "./show-checkout-link.ts";

/** The id of the payment that a transaction makes on a link. */
export const paymentIdOn = (deps: Deps, link: OwnedLinkView, transactionHash: string): string => {
  const { chain } = deps.tokenOf(link.tokenId).token;
  return chainPaymentId({ chainId: chain.id, transactionHash, linkId: link.id });
};

/** Reads how a link stands right now and how it is paid on its chain, as the checkout tells it. */
export const readCheckoutLink = async (
  deps: Deps,
  linkId: string,
  { amount, sourceTransaction }: z.output<typeof CheckoutQuery>,
): Promise<CheckoutLink> => {
  const [link, pending] = await Promise.all([
    readLink(deps, linkId),
    deps.listPendingPayments(linkId),
  ]);
  const now = deps.clock.now();
  const advice = deps.advisePayer(link, { amount, now });
  const followed =
    sourceTransaction === undefined
      ? undefined
      : await findPayment(deps.pool, paymentIdOn(deps, link, sourceTransaction));
  return showCheckoutLink(deps, link, { advice, pending, followed, now });
};
