import { outboxRow } from "@payment-links/bus";
import { Id } from "@payment-links/contracts";
import { type Pool, transact } from "@payment-links/postgres";
import { type Judgement, type Sighting, isNews, judgeSighting } from "../domain/payment.ts";
import { insertToldPayment } from "../store/payments.ts";
import { type SightingContext, recordSighting } from "./record-sighting.ts";
import { settlementEvent } from "./settlement-event.ts";

/**
 * Records a sighting in a transaction of its own. Most are the first of their payment, whose link is
 * known: that takes one statement, where {@link recordSighting} takes eight.
 */
export const recordNotice = async (
  pool: Pool,
  sighting: Sighting,
  context: SightingContext,
): Promise<Judgement> =>
  (await recordFirst(pool, sighting, context)) ??
  transact(pool, (tx) => recordSighting(tx, sighting, context));

const recordFirst = async (
  pool: Pool,
  sighting: Sighting,
  context: SightingContext,
): Promise<Judgement | undefined> => {
  // No link has a longer one, and no event can name it: it is parked.
  if (!Id.safeParse(sighting.paymentLinkId).success) return undefined;
  const judgement = judgeSighting(undefined, sighting, { ...context, isLinkKnown: true });
  if (!isNews(judgement)) return undefined;
  const { payment } = judgement;
  const event = outboxRow(settlementEvent(payment, context.now));
  return (await insertToldPayment(pool, payment, event)) ? judgement : undefined;
};
