import type { AfterCommitHook, ChunkHandler } from "@payment-links/bus";
import type { DepositState, depositSettled } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  type Deposit,
  type ObservedDeposit,
  applyDepositState,
  createDepositSettlement,
} from "../domain/deposit.ts";
import { evaluateSettlement } from "../domain/evaluate-settlement.ts";
import { insertDeposits, lockDeposits, updateDepositStates } from "../store/deposits.ts";
import { createCreditEvents } from "../store/credit-events.ts";
import { saveCredits } from "../store/save-credits.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";

/**
 * Keeps what settlement-listener says of deposits, for every account that is paid at their addresses.
 * The payment that an assigned deposit has become hears with it that its chain took it away, or has it
 * again.
 */
export const saveDeposits =
  (dependencies: Dependencies): ChunkHandler<typeof depositSettled> =>
  async (tx, events) => {
    const statesById = Map.groupBy(
      events.map(({ data }) => data),
      ({ id }) => id,
    );
    const now = dependencies.clock.now();
    const storedDeposits = await lockDeposits(tx, [...statesById.keys()]);
    const storedIds = new Set(storedDeposits.map(({ id }) => id));
    const newDeposits = [...statesById].filter(([id]) => !storedIds.has(id));
    await insertDeposits(
      tx,
      newDeposits.flatMap(([, states]) => createObservedDeposit(states, now) ?? []),
      now,
    );
    const changedDeposits = storedDeposits.flatMap((deposit): Deposit[] => {
      const updatedDeposit = applyDepositStates(deposit, statesById.get(deposit.id) ?? [], now);
      return updatedDeposit === deposit ? [] : [updatedDeposit];
    });
    const latestStates = [
      ...new Map(changedDeposits.map((deposit) => [deposit.id, deposit])).values(),
    ];
    await updateDepositStates(tx, latestStates, now);
    return updateAssignedPayments(
      dependencies,
      tx,
      changedDeposits.filter(({ decision }) => decision === "assigned"),
    );
  };

/** A deposit after one state after the other: of one that came back the chunk may tell the way there. */
const applyDepositStates = <Observed extends ObservedDeposit>(
  deposit: Observed,
  states: readonly DepositState[],
  now: Date,
): Observed =>
  states.reduce<Observed>((current, state) => applyDepositState(current, state, now), deposit);

const createObservedDeposit = (
  [firstState, ...laterStates]: readonly DepositState[],
  now: Date,
): ObservedDeposit | undefined =>
  firstState === undefined
    ? undefined
    : applyDepositStates({ ...firstState, returnedAt: null }, laterStates, now);

/** Tells the payments of assigned deposits whether their chain has taken them away (rule STATE-10). */
const updateAssignedPayments = async (
  dependencies: Dependencies,
  tx: Transaction,
  assignedDeposits: readonly Deposit[],
): Promise<AfterCommitHook | undefined> => {
  if (assignedDeposits.length === 0) return undefined;
  const links = await lockLinks(
    tx,
    assignedDeposits.flatMap(({ linkId }) => linkId ?? []),
  );
  const payments = await findPayments(
    tx,
    assignedDeposits.flatMap(({ paymentId }) => paymentId ?? []),
  );
  const now = dependencies.clock.now();
  const results = assignedDeposits.flatMap((deposit) => {
    const link = links.get(deposit.linkId ?? "");
    const storedPayment = payments.get(deposit.paymentId ?? "");
    if (link === undefined || storedPayment === undefined) return [];
    const settlement = createDepositSettlement(deposit, link.id);
    const getToken = (tokenId: string) => dependencies.getToken(tokenId).token;
    // It was judged when it was assigned.
    return evaluateSettlement(settlement, { link, storedPayment, reports: [], getToken, now });
  });
  await saveCredits(tx, {
    payments: results.map(({ payment }) => payment),
    links: [],
    events: results.flatMap((result) =>
      createCreditEvents(result, { now, traceparent: undefined }),
    ),
  });
  return () => {
    for (const { payment } of results) {
      const storedPayment = payments.get(payment.id);
      if (payment.isOrphaned && storedPayment?.isOrphaned === false)
        dependencies.counters.countOrphanedPayment();
    }
  };
};
