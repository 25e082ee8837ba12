import type { AfterCommit, ChunkHandler } from "@payment-links/bus";
import type { DepositState, depositSettled } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import {
  type Deposit,
  type HeardDeposit,
  hearOfDeposit,
  settlementOfDeposit,
} from "../domain/deposit.ts";
import { takeSettlement } from "../domain/take-settlement.ts";
import { insertDeposits, lockDeposits, updateDepositStates } from "../store/deposits.ts";
import { creditEvents } from "../store/credit-events.ts";
import { keepCredits } from "../store/keep-credits.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";

/**
 * Keeps what settlement-listener says of deposits, for every account that is paid at their addresses.
 * The payment that an assigned deposit has become hears with it that its chain took it away, or has it
 * again.
 */
export const keepDeposits =
  (deps: Deps): ChunkHandler<typeof depositSettled> =>
  async (tx, events) => {
    const told = Map.groupBy(
      events.map(({ data }) => data),
      ({ id }) => id,
    );
    const now = deps.clock.now();
    const known = await lockDeposits(tx, [...told.keys()]);
    const knownIds = new Set(known.map(({ id }) => id));
    const unknown = [...told].filter(([id]) => !knownIds.has(id));
    await insertDeposits(
      tx,
      unknown.flatMap(([, states]) => openDeposit(states, now) ?? []),
      now,
    );
    const moved = known.flatMap((deposit): Deposit[] => {
      const heard = hearAll(deposit, told.get(deposit.id) ?? [], now);
      return heard === deposit ? [] : [heard];
    });
    const latest = [...new Map(moved.map((one) => [one.id, one])).values()];
    await updateDepositStates(tx, latest, now);
    return tellPayments(
      deps,
      tx,
      moved.filter(({ decision }) => decision === "assigned"),
    );
  };

/** A deposit after one state after the other: of one that came back the chunk may tell the way there. */
const hearAll = <Known extends HeardDeposit>(
  known: Known,
  states: readonly DepositState[],
  now: Date,
): Known => states.reduce<Known>((heard, told) => hearOfDeposit(heard, told, now), known);

const openDeposit = (
  [first, ...later]: readonly DepositState[],
  now: Date,
): HeardDeposit | undefined =>
  first === undefined ? undefined : hearAll({ ...first, returnedAt: null }, later, now);

/** Tells the payments of assigned deposits whether their chain has taken them away (rule STATE-10). */
const tellPayments = async (
  deps: Deps,
  tx: Transaction,
  assigned: readonly Deposit[],
): Promise<AfterCommit | undefined> => {
  if (assigned.length === 0) return undefined;
  const links = await lockLinks(
    tx,
    assigned.flatMap(({ linkId }) => linkId ?? []),
  );
  const payments = await findPayments(
    tx,
    assigned.flatMap(({ paymentId }) => paymentId ?? []),
  );
  const now = deps.clock.now();
  const taken = assigned.flatMap((deposit) => {
    const link = links.get(deposit.linkId ?? "");
    const known = payments.get(deposit.paymentId ?? "");
    if (link === undefined || known === undefined) return [];
    const settlement = settlementOfDeposit(deposit, link.id);
    const tokenOf = (tokenId: string) => deps.tokenOf(tokenId).token;
    // It was judged when it was assigned.
    return takeSettlement(settlement, { link, known, reports: [], tokenOf, now });
  });
  await keepCredits(tx, {
    payments: taken.map(({ payment }) => payment),
    links: [],
    events: taken.flatMap((one) => creditEvents(one, { now, traceparent: undefined })),
  });
  return () => {
    for (const { payment } of taken) {
      const before = payments.get(payment.id);
      if (payment.isOrphaned && before?.isOrphaned === false) deps.counters.orphaned();
    }
  };
};
