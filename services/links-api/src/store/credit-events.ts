import { type OutgoingEvent, outgoing } from "@payment-links/bus";
import { idOfNames, linkCompleted, linkTransactionSucceeded } from "@payment-links/contracts";
import { linkState } from "../domain/link.ts";
import { linkTransaction } from "../domain/payment.ts";
import type { Taken } from "../domain/take-settlement.ts";

/**
 * What is told of a payment that counts, nothing of another. Both events of a completing payment carry
 * the state after it, with versions n and n + 1. Their ids name the fact: restored, this service tells
 * it again as the same (rule EVENT-7).
 */
export const creditEvents = (
  { credited, payment }: Taken,
  { now, traceparent }: { now: Date; traceparent: string | undefined },
): OutgoingEvent[] => {
  if (credited === undefined) return [];
  const { link, isCompleted } = credited;
  const state = linkState(link, now);
  const common = { key: link.id, occurredAt: now, traceparent };
  const transaction = linkTransaction(payment);
  const first = isCompleted ? { ...state, version: state.version - 1 } : state;
  const succeeded = outgoing(linkTransactionSucceeded, {
    ...common,
    id: idOfNames("evt", [linkTransactionSucceeded.type, payment.id]),
    data: { link: first, transaction },
  });
  if (!isCompleted) return [succeeded];
  const completed = outgoing(linkCompleted, {
    ...common,
    id: idOfNames("evt", [linkCompleted.type, link.id]),
    data: { link: state },
  });
  return [succeeded, completed];
};
