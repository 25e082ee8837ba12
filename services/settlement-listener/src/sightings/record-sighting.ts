import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import {
  type Circumstances,
  type Judgement,
  type Sighting,
  isNews,
  judgeSighting,
} from "../domain/payment.ts";
import { holdLink } from "../store/links.ts";
import { findPayment, findPaymentLinkId, lockPayment, savePayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

/** What a source brings with a sighting. */
export type SightingContext = Omit<Circumstances, "isLinkKnown">;

/**
 * Records a sighting, the one way in for every source: judges it, and writes the payment's row and,
 * where its link is known, the event, in the caller's transaction. Where the link is not known the
 * payment is parked: stored, and published by {@link publishParked} in the transaction that first
 * hears of the link.
 */
export const recordSighting = async (
  tx: Transaction,
  sighting: Sighting,
  context: SightingContext,
): Promise<Judgement> => {
  await lockPayment(tx, sighting);
  const linkId = (await findPaymentLinkId(tx, sighting)) ?? sighting.paymentLinkId;
  const isLinkKnown = await holdLink(tx, linkId);
  // Read only now: a link that was heard of in between has given the payment its first version.
  const before = await findPayment(tx, sighting);
  const judgement = judgeSighting(before, sighting, { ...context, isLinkKnown });
  if (isNews(judgement)) {
    await savePayments(tx, [judgement.payment]);
    if (isLinkKnown) await publish(tx, [settlementEvent(judgement.payment, context.now)]);
  }
  return judgement;
};
