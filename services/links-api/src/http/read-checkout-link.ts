import type * as z from "zod";
import { type CheckoutLink, type CheckoutQuery } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { type SourceIdPrefix, buildSourceIdPrefix } from "../domain/source-id-prefix.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import type { InstructionsOptions } from "../domain/payment-instructions.ts";
import { findPaymentBySourceIdPrefix } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { serializeCheckoutLink } from "./serialize-checkout-link.ts";

/**
 * Returns the common prefix of the `sourceId` of all payments that a transaction makes on a link.
 */
export const getSourceIdPrefix = (
  dependencies: Dependencies,
  link: OwnedLinkView,
  transactionHash: string,
): SourceIdPrefix => {
  const { chain } = dependencies.getToken(link.tokenId).token;
  return buildSourceIdPrefix({ chainId: chain.id, transactionHash, linkId: link.id });
};

/** Reads a link's current status and its payment instructions for the checkout. */
export const readCheckoutLink = async (
  dependencies: Dependencies,
  linkId: string,
  {
    amount,
    isEndedLinkAllowed,
    sourceTransaction,
  }: z.output<typeof CheckoutQuery> & Pick<InstructionsOptions, "isEndedLinkAllowed">,
): Promise<CheckoutLink> => {
  const [link, pendingPayments] = await Promise.all([
    readLink(dependencies, linkId),
    dependencies.listPendingPayments(linkId),
  ]);
  const now = dependencies.clock.now();
  const [instructionsResult, wrongToken] = await Promise.all([
    dependencies.getPaymentInstructions(link, { amount, now, isEndedLinkAllowed }),
    dependencies.findWrongToken(link),
  ]);
  const followedPayment =
    sourceTransaction === undefined
      ? undefined
      : await findPaymentBySourceIdPrefix(
          dependencies.pool,
          getSourceIdPrefix(dependencies, link, sourceTransaction),
        );
  return serializeCheckoutLink(dependencies, link, {
    instructionsResult,
    pendingPayments,
    followedPayment,
    wrongToken,
    now,
  });
};
