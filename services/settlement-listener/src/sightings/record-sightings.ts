import { setImmediate as nextTurn } from "node:timers/promises";
import { type OutboxRow, outboxRow, writeOutbox } from "@payment-links/bus";
import { isBitcoinChainId } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import {
  type Judgement,
  type Payment,
  type Sighting,
  isNews,
  judgeSighting,
} from "../domain/payment.ts";
import { insertPayments, lockPayments, savePayments } from "../store/payments.ts";
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
  const judgements = judge(sightings, await lockPayments(tx, first.source, names), now);
  const told = listTold(judgements);
  const placed = judgements.flatMap((one) => (one.outcome === "placed" ? [one.payment] : []));
  const [rows] = await Promise.all([
    outboxRowsOf(told, now),
    savePayments(tx, [...told, ...placed]),
  ]);
  await writeOutbox(tx, rows);
  return judgements;
};

/**
 * As {@link recordSightings}, where what was seen is new: so mostly are the payments, and are not looked
 * up before they are written.
 */
export const recordNewSightings = async (
  tx: Transaction,
  sightings: readonly Sighting[],
  now: Date,
): Promise<void> => {
  const told = listTold(judge(sightings, new Map(), now));
  const [rows, known] = await Promise.all([outboxRowsOf(told, now), insertPayments(tx, told)]);
  const isKnown = ({ sourceId }: Pick<Sighting, "sourceId">) => known.has(sourceId);
  const added = told.flatMap((payment, index) => (isKnown(payment) ? [] : (rows[index] ?? [])));
  await writeOutbox(tx, added);
  await recordSightings(tx, sightings.filter(isKnown), now);
};

const judge = (
  sightings: readonly Sighting[],
  known: ReadonlyMap<string, Payment>,
  now: Date,
): readonly Judgement[] =>
  sightings.flatMap((sighting) => {
    const before = known.get(sighting.sourceId);
    if (before === undefined && sighting.isOrphaned === true) return [];
    const isPlaceTold = isBitcoinChainId(sighting.chainId);
    const circumstances = { now, isLinkKnown: true, tokenDecimals: undefined, isPlaceTold };
    return judgeSighting(before, sighting, circumstances);
  });

const listTold = (judgements: readonly Judgement[]): readonly Payment[] =>
  judgements.filter(isNews).map(({ payment }) => payment);

/** The events of payments, made while Postgres is busy with what was asked of it before. */
const outboxRowsOf = async (told: readonly Payment[], now: Date): Promise<readonly OutboxRow[]> => {
  await nextTurn();
  return told.map((payment) => outboxRow(settlementEvent(payment, now)));
};
