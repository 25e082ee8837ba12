import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { type Judgement, type Sighting, isNews, judgeSighting } from "../domain/payment.ts";
import { lockPayments, savePayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

/**
 * Records sightings of many payments of one source, as `recordSighting` does, in a few statements.
 * Their links are known and each payment stands in the list once. The caller sees to it that no
 * other transaction records them meanwhile: a chain's watcher holds its lead, or the payment's
 * reference. What was taken away before anybody was told of it is left out: it is no payment yet.
 */
export const recordSightings = async (
  tx: Transaction,
  sightings: readonly Sighting[],
  now: Date,
): Promise<readonly Judgement[]> => {
  const [first] = sightings;
  if (first === undefined) return [];
  const names = sightings.map(({ sourceId }) => sourceId);
  const known = await lockPayments(tx, first.source, names);
  const judgements = sightings.flatMap((sighting) => {
    const before = known.get(sighting.sourceId);
    if (before === undefined && sighting.isOrphaned === true) return [];
    return judgeSighting(before, sighting, { now, isLinkKnown: true, tokenDecimals: undefined });
  });
  const told = judgements.filter(isNews).map(({ payment }) => payment);
  const placed = judgements.flatMap((one) => (one.outcome === "placed" ? [one.payment] : []));
  await savePayments(tx, [...told, ...placed]);
  await publish(
    tx,
    told.map((payment) => settlementEvent(payment, now)),
  );
  return judgements;
};
