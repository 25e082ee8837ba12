import { sql } from "slonik";
import { type OutgoingEvent, buildOutboxInsert, createOutgoingEvent } from "@payment-links/bus";
import {
  createDeterministicId,
  linkCompleted,
  linkTransactionSucceeded,
  linkTransactionUnapplied,
} from "@payment-links/contracts";
import { VoidRow, type Transaction } from "@payment-links/postgres";
import { type SettlementResult, getChangedLink } from "../domain/evaluate-settlement.ts";
import { toLinkState } from "../domain/link.ts";
import { toLinkTransaction } from "../domain/payment.ts";
import { buildLinksUpdate } from "./links.ts";
import { buildPaymentsUpsert } from "./payments.ts";

type CreditResult = SettlementResult & {
  /** The settlement's event, whose trace the link's events continue. */
  event?: { traceparent?: string | undefined };
};

/**
 * Stores payments, their links and the links' events in one statement, which saves two round trips.
 * The events are published in the order of the results. If several results change a payment or a
 * link, its last state is stored. The links' rows must be locked by this transaction.
 */
export const saveCredits = async (
  tx: Transaction,
  results: readonly CreditResult[],
  now: Date,
): Promise<void> => {
  const payments = keepLatest(results.map(({ payment }) => payment));
  const links = keepLatest(results.flatMap((result) => getChangedLink(result) ?? []));
  const events = results.flatMap((result) => createPaymentEvents(result, now));
  await tx.query(sql.prepared("keep_credits", VoidRow)`
    WITH paid AS (${buildPaymentsUpsert(payments)}), credited AS (${buildLinksUpdate(links, now)})
    ${buildOutboxInsert(events)}
  `);
};

const keepLatest = <Item extends { id: string }>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];

/**
 * Creates the events for a payment. If an applied payment completes the link, there are two events,
 * with the versions n and n + 1, and both contain the state after the payment. Their ids are
 * derived from the payment and the link, so a service that was restored from a backup publishes
 * them with the same ids (rule EVENT-7).
 */
const createPaymentEvents = (result: CreditResult, now: Date): OutgoingEvent[] => {
  const { credit, event, payment, unapplied } = result;
  const link = getChangedLink(result);
  if (link === undefined) return [];
  const state = toLinkState(link, now);
  const commonFields = { key: link.id, occurredAt: now, traceparent: event?.traceparent };
  const transaction = toLinkTransaction(payment);
  if (unapplied !== undefined) {
    const unappliedEvent = createOutgoingEvent(linkTransactionUnapplied, {
      ...commonFields,
      id: createDeterministicId("evt", [linkTransactionUnapplied.type, payment.id]),
      data: { link: state, transaction: { ...transaction, reason: payment.reason ?? "" } },
    });
    return [unappliedEvent];
  }
  const isCompleted = credit?.isCompleted === true;
  const stateAfterPayment = isCompleted ? { ...state, version: state.version - 1 } : state;
  const succeeded = createOutgoingEvent(linkTransactionSucceeded, {
    ...commonFields,
    id: createDeterministicId("evt", [linkTransactionSucceeded.type, payment.id]),
    data: { link: stateAfterPayment, transaction },
  });
  if (!isCompleted) return [succeeded];
  const completed = createOutgoingEvent(linkCompleted, {
    ...commonFields,
    id: createDeterministicId("evt", [linkCompleted.type, link.id]),
    data: { link: state },
  });
  return [succeeded, completed];
};
