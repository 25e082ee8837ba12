import assert from "node:assert/strict";
import type { ChunkEvent, ChunkHandler } from "@payment-links/bus";
import { needsAddressPerLink } from "@payment-links/chains";
import { type SettlementState, type settlementSettled, topics } from "@payment-links/contracts";
import { type Transaction, afterCommit } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { Link } from "../domain/link.ts";
import { type Payment, isSimulated } from "../domain/payment.ts";
import { type PaymentReports, createPaymentReports } from "../domain/same-transfer.ts";
import {
  type SettlementResult,
  isStale,
  evaluateSettlement,
  getChangedLink,
} from "../domain/evaluate-settlement.ts";
import { markAddressesUsed } from "../store/link-addresses.ts";
import { saveCredits } from "../store/save-credits.ts";
import { lockLinks } from "../store/links.ts";
import { publishPaymentNotifications } from "../store/notifications.ts";
import { findPayments } from "../store/payments.ts";
import { lockReports } from "../store/payment-reports.ts";

type SettlementEvent = ChunkEvent<typeof settlementSettled>;

/** A settlement that contained something new, with the state before it and the result. */
type AppliedSettlement = SettlementResult & {
  event: SettlementEvent;
  linkBefore: Link;
  storedPayment: Payment | undefined;
};

/**
 * Applies settlements from settlement-listener: stores every payment regardless of its status,
 * credits the applied ones to their links, and publishes their events. A chunk takes a few
 * statements and locks its links. Each settlement is evaluated after the previous one has been
 * applied, so the result is the same as for single settlements.
 *
 * Throws if a link is unknown, so the record is dead-lettered. This is not expected, because
 * settlement-listener defers a payment until its link is known.
 */
export const applySettlements =
  (dependencies: Dependencies): ChunkHandler<typeof settlementSettled> =>
  async (tx, events) => {
    if (await areAllStale(tx, events)) return;
    const linkIds = events.map(({ data }) => data.paymentLinkId);
    const links = await lockLinks(tx, linkIds);
    const payments = await findPayments(tx, toPaymentIds(events));
    const reports = await lockReports(tx, listReportsToEvaluate(events, payments));
    const now = dependencies.clock.now();
    const state = { links, payments, reports: createPaymentReports(reports) };
    const appliedSettlements = events.flatMap((event) =>
      applySettlement(dependencies, { event, now, ...state }),
    );
    if (appliedSettlements.length === 0) return;
    await saveCredits(tx, appliedSettlements, now);
    if (dependencies.hasEmail) {
      const liveSettlements = appliedSettlements.filter(
        ({ linkBefore }) => linkBefore.mode === "live",
      );
      await publishPaymentNotifications(tx, liveSettlements, now);
    }
    await markAddressesUsed(tx, listLinkAddresses(appliedSettlements));
    afterCommit(tx, () => reportSettlements(dependencies, appliedSettlements));
  };

/**
 * Returns whether all events in a chunk are duplicates, for example during a republish. Such a
 * chunk does not change anything, so it does not need to lock its links. For a single event this
 * check is skipped, because it is checked while its link is locked.
 */
const areAllStale = async (
  tx: Transaction,
  events: readonly SettlementEvent[],
): Promise<boolean> => {
  if (events.length === 1) return false;
  const payments = await findPayments(tx, toPaymentIds(events));
  return events.every(({ data, envelope }) => {
    const storedPayment = payments.get(data.id);
    return (
      storedPayment?.linkId === data.paymentLinkId &&
      isStale(storedPayment, data, envelope.occurredAt)
    );
  });
};

/** Returns the settlements that settle a payment for the first time. Only these are evaluated. */
const listReportsToEvaluate = (
  events: readonly SettlementEvent[],
  payments: ReadonlyMap<string, Payment>,
): SettlementState[] =>
  events
    .map(({ data }) => data)
    .filter(({ id, status }) => status === "settled" && payments.get(id)?.status !== "settled");

const toPaymentIds = (events: readonly SettlementEvent[]): string[] =>
  events.map(({ data }) => data.id);

/**
 * Evaluates one settlement and updates the maps, so that the next settlement is evaluated against
 * the new state. Returns one entry for each changed payment.
 */
const applySettlement = (
  dependencies: Dependencies,
  {
    event,
    links,
    payments,
    reports,
    now,
  }: {
    event: SettlementEvent;
    links: Map<string, Link>;
    payments: Map<string, Payment>;
    reports: PaymentReports;
    now: Date;
  },
): AppliedSettlement[] => {
  const { data } = event;
  const link = links.get(data.paymentLinkId);
  assert.ok(link !== undefined, `payment link ${data.paymentLinkId} not found`);
  const storedPayment = payments.get(data.id);
  const linkId = storedPayment?.linkId ?? link.id;
  assert.equal(linkId, link.id, "the payment belongs to another link");
  const getToken = (tokenId: string) => dependencies.getToken(tokenId).token;
  const transactionPayments = reports.list(link.userId, data);
  const results = evaluateSettlement(data, {
    link,
    storedPayment,
    reports: transactionPayments,
    getToken,
    publishedAt: event.envelope.occurredAt,
    now,
  });
  return results.map((result): AppliedSettlement => {
    const { payment: updatedPayment } = result;
    const linkBefore = links.get(link.id) ?? link;
    const storedReport =
      payments.get(updatedPayment.id) ??
      transactionPayments.find(({ id }) => id === updatedPayment.id);
    const payment =
      storedReport === undefined
        ? updatedPayment
        : withStoredIdentity(storedReport, updatedPayment);
    payments.set(payment.id, payment);
    reports.set({ userId: link.userId, payment });
    links.set(link.id, getChangedLink(result) ?? linkBefore);
    return { ...result, payment, event, linkBefore, storedPayment: storedReport };
  });
};

/**
 * Preserves the source, the source id and the first-seen time with which a payment was first
 * stored.
 */
const withStoredIdentity = (storedPayment: Payment, updatedPayment: Payment): Payment => ({
  ...updatedPayment,
  source: storedPayment.source,
  sourceId: storedPayment.sourceId,
  firstSeenAt: storedPayment.firstSeenAt,
});

/** Returns the own addresses of the links for which payments were seen on the chain. */
const listLinkAddresses = (appliedSettlements: readonly AppliedSettlement[]): string[] =>
  appliedSettlements.flatMap(({ linkBefore, payment }) =>
    needsAddressPerLink(linkBefore.chainId) && !isSimulated(payment)
      ? [linkBefore.destinationAddress]
      : [],
  );

/** Counts and logs what applied settlements have changed. */
const reportSettlements = (
  { counters, log }: Dependencies,
  appliedSettlements: readonly AppliedSettlement[],
): void => {
  for (const { linkBefore, credit, event, storedPayment, payment } of appliedSettlements) {
    if (storedPayment?.id === event.data.id && event.data.version > storedPayment.version + 1) {
      counters.countVersionJump(topics.settlements);
    }
    if (storedPayment?.status === "failed" && event.data.status === "settled") {
      const logFields = { link_id: payment.linkId, payment_id: payment.id };
      log.warn(logFields, "failed payment later settled");
    }
    if (credit?.isCompleted === true) counters.countStatusChange(linkBefore.status, "completed");
    // A developer can simulate any number of these, so they must not cause an alert.
    if (isSimulated(payment)) continue;
    if (storedPayment?.status === "settled") {
      if (payment.isOrphaned && !storedPayment.isOrphaned) counters.countOrphanedPayment();
    } else if (payment.status === "settled")
      counters.countEvaluatedPayment(payment.reason ?? undefined);
  }
};
