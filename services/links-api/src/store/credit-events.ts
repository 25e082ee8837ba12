import { type OutgoingEvent, createOutgoingEvent } from "@payment-links/bus";
import {
  createDeterministicId,
  linkCompleted,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import { toLinkState } from "../domain/link.ts";
import { toLinkTransaction } from "../domain/payment.ts";
import type { SettlementResult } from "../domain/evaluate-settlement.ts";

/**
 * Creates the events for a payment. Only an applied payment has events. If it completes the link,
 * there are two events, with the versions n and n + 1, and both contain the state after the
 * payment. Their ids are derived from the payment and the link, so a service that was restored from
 * a backup publishes them with the same ids (rule EVENT-7).
 */
export const createCreditEvents = (
  { credit, payment }: SettlementResult,
  { now, traceparent }: { now: Date; traceparent: string | undefined },
): OutgoingEvent[] => {
  if (credit === undefined) return [];
  const { link, isCompleted } = credit;
  const state = toLinkState(link, now);
  const commonFields = { key: link.id, occurredAt: now, traceparent };
  const transaction = toLinkTransaction(payment);
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
