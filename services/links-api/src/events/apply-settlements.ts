import assert from "node:assert/strict";
import { type AfterCommitHook, type ChunkEvent, type ChunkHandler } from "@payment-links/bus";
import {
  type SettlementState,
  isBitcoinChainId,
  type settlementSettled,
  topics,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { Link } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import { type PaymentReports, createPaymentReports } from "../domain/payment-reports.ts";
import {
  type SettlementResult,
  isStale,
  evaluateSettlement,
} from "../domain/evaluate-settlement.ts";
import { markAddressesUsed } from "../store/bitcoin-addresses.ts";
import { createCreditEvents } from "../store/credit-events.ts";
import { saveCredits } from "../store/save-credits.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";
import { lockReports } from "../store/payment-reports.ts";

type SettlementEvent = ChunkEvent<typeof settlementSettled>;

/** A settlement that contains something new, the state before it, and its result. */
type AppliedSettlement = SettlementResult & {
  event: SettlementEvent;
  linkBefore: Link;
  storedPayment: Payment | undefined;
};

/**
 * Applies settlements from settlement-listener in a few statements per chunk, while it holds the
 * locks of their links. Each settlement is evaluated against the state that the previous one left,
 * so the result is the same as for single settlements. Stores every payment regardless of its
 * status. Credits the applied ones and publishes their events.
 *
 * Throws for an unknown link, which dead-letters the record: settlement-listener defers payments
 * until their link is known.
 */
export const applySettlements =
  (dependencies: Dependencies): ChunkHandler<typeof settlementSettled> =>
  async (tx, events) => {
    if (await areAllStale(tx, events)) return;
    const linkIds = events.map(({ data }) => data.paymentLinkId);
    const links = await lockLinks(tx, linkIds);
    const payments = await findPayments(tx, toPaymentIds(toSettlementStates(events)));
    const reports = await lockReports(tx, listReportsToEvaluate(events, payments));
    const now = dependencies.clock.now();
    const state = { links, payments, reports: createPaymentReports(reports) };
    const appliedSettlements = events.flatMap((event) =>
      applySettlement(dependencies, { event, now, ...state }),
    );
    if (appliedSettlements.length === 0) return;
    const changedPaymentIds = toPaymentIds(appliedSettlements.map(({ payment }) => payment));
    const creditedLinkIds = appliedSettlements.flatMap(({ credit }) => credit?.link.id ?? []);
    await saveCredits(tx, {
      payments: pickLatest(changedPaymentIds, payments),
      links: pickLatest(creditedLinkIds, links),
      events: appliedSettlements.flatMap((step) =>
        createCreditEvents(step, { now, traceparent: step.event.traceparent }),
      ),
    });
    await markAddressesUsed(tx, listBitcoinAddresses(appliedSettlements));
    return createReportHook(dependencies, appliedSettlements);
  };

/**
 * Returns whether every event in a chunk is a duplicate, for example during a republish. Such a
 * chunk changes nothing, so it needs no link locks. A single event is checked only under the lock.
 */
const areAllStale = async (
  tx: Transaction,
  events: readonly SettlementEvent[],
): Promise<boolean> => {
  if (events.length === 1) return false;
  const payments = await findPayments(tx, toPaymentIds(toSettlementStates(events)));
  return events.every(({ data, envelope }) => {
    const storedPayment = payments.get(data.id);
    return (
      storedPayment?.linkId === data.paymentLinkId &&
      isStale(storedPayment, data, envelope.occurredAt)
    );
  });
};

/** Returns the settlements of payments that have not settled before. Only these are evaluated. */
const listReportsToEvaluate = (
  events: readonly SettlementEvent[],
  payments: ReadonlyMap<string, Payment>,
): SettlementState[] =>
  toSettlementStates(events).filter(
    ({ id, status }) => status === "settled" && payments.get(id)?.status !== "settled",
  );

const toSettlementStates = (events: readonly SettlementEvent[]): SettlementState[] =>
  events.map(({ data }) => data);

const toPaymentIds = (payments: readonly Pick<Payment, "id">[]): string[] =>
  payments.map(({ id }) => id);

/**
 * Evaluates one settlement and updates the maps for the next one. Returns one step for each changed
 * payment.
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
  return results.map(({ credit, payment: updatedPayment }): AppliedSettlement => {
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
    if (credit !== undefined) links.set(link.id, credit.link);
    return { payment, credit, event, linkBefore, storedPayment: storedReport };
  });
};

/** Keeps the source id and the first-seen time under which a payment was first stored. */
const withStoredIdentity = (storedPayment: Payment, updatedPayment: Payment): Payment => ({
  ...updatedPayment,
  source: storedPayment.source,
  sourceId: storedPayment.sourceId,
  firstSeenAt: storedPayment.firstSeenAt,
});

/** Returns the Bitcoin addresses on which payments were seen. No other link may ever get them. */
const listBitcoinAddresses = (appliedSettlements: readonly AppliedSettlement[]): string[] =>
  appliedSettlements.flatMap(({ linkBefore }) =>
    isBitcoinChainId(linkBefore.chainId) ? [linkBefore.destinationAddress] : [],
  );

/** Returns the latest state for each id. */
const pickLatest = <Item>(ids: readonly string[], itemsById: ReadonlyMap<string, Item>): Item[] =>
  [...new Set(ids)].flatMap((id) => itemsById.get(id) ?? []);

const createReportHook =
  (
    { counters, log }: Dependencies,
    appliedSettlements: readonly AppliedSettlement[],
  ): AfterCommitHook =>
  () => {
    for (const { linkBefore, credit, event, storedPayment, payment } of appliedSettlements) {
      if (storedPayment?.id === event.data.id && event.data.version > storedPayment.version + 1) {
        counters.countVersionJump(topics.settlements);
      }
      if (storedPayment?.status === "failed" && event.data.status === "settled") {
        const logFields = { link_id: payment.linkId, payment_id: payment.id };
        log.warn(logFields, "failed payment later settled");
      }
      if (storedPayment?.status === "settled") {
        if (payment.isOrphaned && !storedPayment.isOrphaned) counters.countOrphanedPayment();
      } else if (payment.status === "settled")
        counters.countEvaluatedPayment(payment.reason ?? undefined);
      if (credit?.isCompleted === true) counters.countStatusChange(linkBefore.status, "completed");
    }
  };
