import type { ChunkEvent, ChunkHandler } from "@payment-links/bus";
import type { depositSettled } from "@payment-links/contracts";
import { type Transaction, afterCommit } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  type Deposit,
  type ObservedDeposit,
  applyDepositState,
  createDepositSettlement,
} from "../domain/deposit.ts";
import { evaluateSettlement } from "../domain/evaluate-settlement.ts";
import { insertDeposits, isOwned, lockDeposits, updateDepositStates } from "../store/deposits.ts";
import { saveCredits } from "../store/save-credits.ts";
import { lockLinks } from "../store/links.ts";
import { publishDepositNotifications } from "../store/notifications.ts";
import { findPayments } from "../store/payments.ts";

type DepositEvent = ChunkEvent<typeof depositSettled>;

/**
 * Stores the states of deposits for every account that is paid at their addresses. If an assigned
 * deposit is orphaned, flags its payment. Removes the flag when the deposit is back on its chain.
 */
export const saveDeposits =
  (dependencies: Dependencies): ChunkHandler<typeof depositSettled> =>
  async (tx, events) => {
    const eventsById = Map.groupBy(events, ({ data }) => data.id);
    const now = dependencies.clock.now();
    const storedDeposits = await lockDeposits(tx, [...eventsById.keys()]);
    const storedIds = new Set(storedDeposits.map(({ id }) => id));
    const newDeposits = [...eventsById].filter(([id]) => !storedIds.has(id));
    const insertedDeposits = await insertDeposits(
      tx,
      newDeposits.flatMap(([, depositEvents]) => createObservedDeposit(depositEvents, now) ?? []),
      now,
    );
    const changes = storedDeposits.flatMap((previous) => {
      const current = applyDepositEvents(previous, eventsById.get(previous.id) ?? [], now);
      return current === previous ? [] : [{ previous, current }];
    });
    const changedDeposits = changes.map(({ current }) => current);
    const latestStates = [
      ...new Map(changedDeposits.map((deposit) => [deposit.id, deposit])).values(),
    ];
    await updateDepositStates(tx, latestStates, now);
    if (dependencies.hasEmail) {
      const newlySettled = changes
        .filter(({ previous }) => previous.status !== "settled")
        .map(({ current }) => current);
      const unmatchedDeposits = [...insertedDeposits, ...newlySettled].filter(
        (deposit) =>
          isOwned(deposit) &&
          deposit.mode === "live" &&
          deposit.decision === "unmatched" &&
          deposit.status === "settled",
      );
      await publishDepositNotifications(tx, unmatchedDeposits, now);
    }
    await updateAssignedPayments(
      dependencies,
      tx,
      changedDeposits.filter(({ decision }) => decision === "assigned"),
    );
  };

/** Applies a deposit's events in order, because a chunk can contain several of its states. */
const applyDepositEvents = <Observed extends ObservedDeposit>(
  deposit: Observed,
  events: readonly DepositEvent[],
  now: Date,
): Observed =>
  events.reduce<Observed>(
    (current, { data, envelope }) =>
      applyDepositState(current, data, { publishedAt: envelope.occurredAt, now }),
    deposit,
  );

const createObservedDeposit = (
  [firstEvent, ...laterEvents]: readonly DepositEvent[],
  now: Date,
): ObservedDeposit | undefined => {
  if (firstEvent === undefined) return undefined;
  const { data, envelope } = firstEvent;
  const orphanChangePublishedAt = data.status === "orphaned" ? envelope.occurredAt : null;
  const deposit = { ...data, returnedAt: null, orphanChangePublishedAt };
  return applyDepositEvents(deposit, laterEvents, now);
};

/** Updates the orphaned flag of the payments of assigned deposits (rule STATE-10). */
const updateAssignedPayments = async (
  dependencies: Dependencies,
  tx: Transaction,
  assignedDeposits: readonly Deposit[],
): Promise<void> => {
  if (assignedDeposits.length === 0) return;
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
    // Other reports are not needed, because the payment was evaluated when the deposit was
    // assigned.
    return evaluateSettlement(settlement, {
      link,
      storedPayment,
      reports: [],
      getToken,
      publishedAt: deposit.orphanChangePublishedAt ?? now,
      now,
    });
  });
  await saveCredits(tx, results, now);
  afterCommit(tx, () => {
    for (const { payment } of results) {
      const storedPayment = payments.get(payment.id);
      if (payment.isOrphaned && storedPayment?.isOrphaned === false)
        dependencies.counters.countOrphanedPayment();
    }
  });
};
