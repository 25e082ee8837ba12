import assert from "node:assert/strict";
import { type AfterCommit, type ChunkEvent, type ChunkHandler } from "@payment-links/bus";
import {
  type SettlementState,
  isBitcoinChainId,
  type settlementSettled,
  topics,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { Link } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import { type Reports, createReports } from "../domain/reports.ts";
import { type Taken, isOld, takeSettlement } from "../domain/take-settlement.ts";
import { markAddressesUsed } from "../store/bitcoin-addresses.ts";
import { creditEvents } from "../store/credit-events.ts";
import { keepCredits } from "../store/keep-credits.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";
import { lockReports } from "../store/reports.ts";

type Settlement = ChunkEvent<typeof settlementSettled>;

/** A settlement that tells something new, what it met here, and what came of it. */
type Step = Taken & { event: Settlement; before: Link; known: Payment | undefined };

/**
 * Applies what settlement-listener says of payments, under the locks of their links, in a few
 * statements for many. Each is decided upon the state that the one before it left, so they come out as
 * if they had come alone. A payment is kept whatever its status, and credited if it counts, with the
 * events that tell so. Throws for an unknown link: the listener parks those, so the record goes to the
 * dead letters.
 */
export const applySettlements =
  (deps: Deps): ChunkHandler<typeof settlementSettled> =>
  async (tx, events) => {
    if (await areOld(tx, events)) return;
    const linkIds = events.map(({ data }) => data.paymentLinkId);
    const links = await lockLinks(tx, linkIds);
    const payments = await findPayments(tx, idsOf(statesOf(events)));
    const reports = await lockReports(tx, reportsToJudge(events, payments));
    const now = deps.clock.now();
    const met = { links, payments, reports: createReports(reports) };
    const steps = events.flatMap((event) => takeStep(deps, { event, now, ...met }));
    if (steps.length === 0) return;
    const takenIds = idsOf(steps.map(({ payment }) => payment));
    const creditedIds = steps.flatMap(({ credited }) => credited?.link.id ?? []);
    await keepCredits(tx, {
      payments: lastOf(takenIds, payments),
      links: lastOf(creditedIds, links),
      events: steps.flatMap((step) =>
        creditEvents(step, { now, traceparent: step.event.traceparent }),
      ),
    });
    await markAddressesUsed(tx, bitcoinAddressesOf(steps));
    return reportSteps(deps, steps);
  };

/**
 * Whether none of many tells anything new, as in a republication: then nobody's link is locked for
 * them. As they change nothing, it is as if they had come when they were looked at. A lone one is
 * looked at under the lock only.
 */
const areOld = async (tx: Transaction, events: readonly Settlement[]): Promise<boolean> => {
  if (events.length === 1) return false;
  const payments = await findPayments(tx, idsOf(statesOf(events)));
  return events.every(({ data }) => {
    const known = payments.get(data.id);
    return known?.linkId === data.paymentLinkId && isOld(known, data);
  });
};

/** The events by which a payment settles that has not settled before: only these are judged. */
const reportsToJudge = (
  events: readonly Settlement[],
  payments: ReadonlyMap<string, Payment>,
): SettlementState[] =>
  statesOf(events).filter(
    ({ id, status }) => status === "settled" && payments.get(id)?.status !== "settled",
  );

const statesOf = (events: readonly Settlement[]): SettlementState[] =>
  events.map(({ data }) => data);

const idsOf = (payments: readonly Pick<Payment, "id">[]): string[] => payments.map(({ id }) => id);

/**
 * Decides one settlement, and leaves in the maps what the next one meets. A step for each payment that it
 * changes.
 */
const takeStep = (
  deps: Deps,
  {
    event,
    links,
    payments,
    reports,
    now,
  }: {
    event: Settlement;
    links: Map<string, Link>;
    payments: Map<string, Payment>;
    reports: Reports;
    now: Date;
  },
): Step[] => {
  const { data } = event;
  const link = links.get(data.paymentLinkId);
  assert.ok(link !== undefined, `there is no payment link ${data.paymentLinkId}`);
  const known = payments.get(data.id);
  const linkId = known?.linkId ?? link.id;
  assert.equal(linkId, link.id, "a payment moved to another link");
  const tokenOf = (tokenId: string) => deps.tokenOf(tokenId).token;
  const sameTransaction = reports.list(link.userId, data);
  const taken = takeSettlement(data, { link, known, reports: sameTransaction, tokenOf, now });
  return taken.map(({ credited, payment: told }): Step => {
    const before = links.get(link.id) ?? link;
    const knownOfIt = payments.get(told.id) ?? sameTransaction.find(({ id }) => id === told.id);
    const payment = knownOfIt === undefined ? told : asKept(knownOfIt, told);
    payments.set(payment.id, payment);
    reports.set({ userId: link.userId, payment });
    if (credited !== undefined) links.set(link.id, credited.link);
    return { payment, credited, event, before, known: knownOfIt };
  });
};

/** A payment's row keeps the name and the time under which it was first told. */
const asKept = (known: Payment, told: Payment): Payment => ({
  ...told,
  source: known.source,
  sourceId: known.sourceId,
  firstSeenAt: known.firstSeenAt,
});

/** Where payments on Bitcoin were seen: no other link may ever have these addresses. */
const bitcoinAddressesOf = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ before }) =>
    isBitcoinChainId(before.chainId) ? [before.destinationAddress] : [],
  );

/** What the last step of each id left. */
const lastOf = <Thing>(ids: readonly string[], things: ReadonlyMap<string, Thing>): Thing[] =>
  [...new Set(ids)].flatMap((id) => things.get(id) ?? []);

const reportSteps =
  ({ counters, log }: Deps, steps: readonly Step[]): AfterCommit =>
  () => {
    for (const { before, credited, event, known, payment } of steps) {
      if (known?.id === event.data.id && event.data.version > known.version + 1) {
        counters.skipped(topics.settlements);
      }
      if (known?.status === "failed" && event.data.status === "settled") {
        const line = { link_id: payment.linkId, payment_id: payment.id };
        log.warn(line, "a failed payment has settled after all");
      }
      if (known?.status === "settled") {
        if (payment.isOrphaned && !known.isOrphaned) counters.orphaned();
      } else if (payment.status === "settled") counters.judged(payment.reason ?? undefined);
      if (credited?.isCompleted === true) counters.changed(before.status, "completed");
    }
  };
