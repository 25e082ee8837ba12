import assert from "node:assert/strict";
import {
  type EventHandler,
  type OldFinder,
  type OutgoingEvent,
  outgoing,
  publish,
} from "@payment-links/bus";
import {
  type SettlementState,
  idOfNames,
  linkCompleted,
  linkTransactionSucceeded,
  type settlementSettled,
  topics,
} from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { type Link, linkState } from "../domain/link.ts";
import {
  type Payment,
  creditPayment,
  judgePayment,
  linkTransaction,
  openPayment,
} from "../domain/payment.ts";
import { lockLink, updateLink } from "../store/links.ts";
import { findPayment, findPayments, upsertPayment } from "../store/payments.ts";

/**
 * Applies what settlement-listener says of one payment, under the link's lock. The payment is kept
 * whatever its status. It is judged once, when it settles, and credited if it counts, with the
 * events that tell so. Throws for an unknown link: the listener parks those, so the record goes to
 * the dead letters.
 */
export const applySettlement =
  (deps: Deps): EventHandler<typeof settlementSettled> =>
  async (tx, told) => {
    const link = await lockLink(tx, told.paymentLinkId);
    assert.ok(link !== undefined, `there is no payment link ${told.paymentLinkId}`);
    const known = await findPayment(tx, told.id);
    if (known !== undefined && isOld(known, told)) return;
    countJump(deps, known, told);
    const settlement = { ...told, version: Math.max(told.version, known?.version ?? 0) };
    if (known?.status === "settled") {
      await keepFlag(deps, tx, known, settlement);
      return;
    }

    const now = deps.clock.now();
    if (settlement.status !== "settled") {
      await upsertPayment(tx, openPayment(settlement, undefined, now));
      return;
    }
    const reason = judgePayment(link, deps.tokenOf(link.tokenId).token, settlement);
    const payment = openPayment(settlement, { reason }, now);
    await upsertPayment(tx, payment);
    deps.counters.judged(reason);
    if (payment.isApplied) await credit(deps, tx, { link, payment, now });
  };

/**
 * Those of many settlements that tell nothing new. No lock is needed for that: a payment's version
 * and its steps only go forward.
 */
export const findOldSettlements: OldFinder<typeof settlementSettled> = async (tx, events) => {
  const payments = await findPayments(
    tx,
    events.map(({ data }) => data.id),
  );
  const old = events.filter(({ data }) => {
    const known = payments.get(data.id);
    return known?.linkId === data.paymentLinkId && isOld(known, data);
  });
  return new Set(old.map(({ envelope }) => envelope.id));
};

const isOld = (known: Payment, settlement: SettlementState): boolean => {
  assert.equal(known.linkId, settlement.paymentLinkId, "a payment moved to another link");
  return known.version >= settlement.version && !isFurther(known, settlement);
};

/**
 * A payment's steps go one way (rule STATE-6), so a later step is news under any version: a listener
 * that was restored from a dump knows the payment again, and counts its versions anew.
 */
const isFurther = (known: Payment, { status, isOrphaned = false }: SettlementState): boolean =>
  known.status === "processing"
    ? status !== "processing"
    : known.status === "settled" && isOrphaned && !known.isOrphaned;

/**
 * A settled payment is never judged again (rule STATE-10). A later version can only add that its
 * chain took it away: the owner is told, and the link stays as it is.
 */
const keepFlag = async (
  deps: Deps,
  tx: Parameters<EventHandler>[0],
  known: Payment,
  { version, isOrphaned = false }: SettlementState,
): Promise<void> => {
  if (isOrphaned && !known.isOrphaned) deps.counters.orphaned();
  await upsertPayment(tx, { ...known, version, isOrphaned: known.isOrphaned || isOrphaned });
};

const countJump = (deps: Deps, known: Payment | undefined, { version }: SettlementState): void => {
  if (known !== undefined && version > known.version + 1) deps.counters.skipped(topics.settlements);
};

const credit = async (
  deps: Deps,
  tx: Parameters<EventHandler>[0],
  { link: before, payment, now }: { link: Link; payment: Payment; now: Date },
): Promise<void> => {
  const { link, isCompleted } = creditPayment(before, payment);
  await updateLink(tx, link);
  await publish(tx, creditEvents({ link, isCompleted, payment, now }));
  if (isCompleted) deps.counters.changed(before.status, "completed");
};

/**
 * Both events of a completing payment carry the state after the commit, with versions n and n + 1.
 * Their ids name the fact: restored, this service tells it again as the same (rule EVENT-7).
 */
const creditEvents = ({
  link,
  isCompleted,
  payment,
  now,
}: {
  link: Link;
  isCompleted: boolean;
  payment: Payment;
  now: Date;
}): OutgoingEvent[] => {
  const state = linkState(link, now);
  const common = { key: link.id, occurredAt: now };
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
