import type { Transaction } from "@payment-links/postgres";
import { type Judgement, type Sighting, judgeSighting } from "../domain/payment.ts";
import { insertEvents } from "../store/outbox.ts";
import { lockPayments, savePayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

/**
 * Records sightings of many payments of one source, as `recordSighting` does, in a few statements.
 * Their links are known and each payment stands in the list once. The caller sees to it that no
 * other transaction records them meanwhile: a chain's watcher holds its lead, or the payment's
 * reference.
 */
export const recordSightings = async (
  tx: Transaction,
  sightings: readonly Sighting[],
  now: Date,
): Promise<readonly Judgement[]> => {
  const [first] = sightings;
  if (first === undefined) return [];
  const names = sightings.map(({ sourceId }) => sourceId);
  const before = await lockPayments(tx, first.source, names);
  const judgements = sightings.map((sighting) =>
    judgeSighting(before.get(sighting.sourceId), sighting, {
      now,
      isLinkKnown: true,
      tokenDecimals: undefined,
    }),
  );
  const changed = judgements.flatMap((judgement) =>
    judgement.outcome === "first" || judgement.outcome === "moved" ? [judgement.payment] : [],
  );
  await savePayments(tx, changed);
  await insertEvents(
    tx,
    changed.map((payment) => settlementEvent(payment, now)),
  );
  return judgements;
};
