import { assertInvariant } from "./finding.ts";
import {
  type ModelTransfer,
  type PaymentIdentity,
  type Order,
  type Payment,
  matchesIdentity,
} from "./model-transfer.ts";

/** A plain transfer to an owner's address that does not name a link. */
export type Deposit = ModelTransfer & {
  account: number;
  destinationAddress: string;
  /**
   * Whether the deposit must be reported to the owner. This requires that it is above the minimum
   * and that its token is in the catalogue.
   */
  isReportable: boolean;
  /** Whether the deposit's token is the token in which links are paid. */
  isLinkToken: boolean;
  /**
   * Whether the listener knew before the transfer was sent that the address belongs to an owner. If
   * so, the scan must find the deposit.
   */
  isOwnerKnown: boolean;
  /** The links to which the owner tried to assign the deposit. */
  requestedOrders: Set<Order>;
  isDismissalRequested: boolean;
  /** Whether a response confirmed that the deposit was dismissed. */
  isDismissed: boolean;
  /** The link to which a response confirmed that the deposit was assigned. */
  assignedTo: Order | undefined;
  /** The link to which the deposit was credited. It is then also in `payments`. */
  order: Order | undefined;
  flaw: undefined;
};

export type DepositData = PaymentIdentity & {
  id: string;
  version: number;
  status: "seen" | "settled" | "orphaned";
  destinationAddress: string;
};

/** A deposit in the console's list. */
export type ListedDeposit = PaymentIdentity & {
  id: string;
  status: "seen" | "settled" | "orphaned";
  decision: "unmatched" | "assigned" | "dismissed";
  paymentLinkId: string | null;
  likelyLinks: readonly { id: string }[];
};

/**
 * Tracks the true state of deposits and what the system has published about them (rules CHAIN-20
 * and CALLER-29).
 */
export const createDepositModel = ({
  isListenerRestored,
  mayStayProcessing,
  orders,
  payments,
}: {
  orders: readonly Order[];
  /** All payments of links. A deposit is added when it is credited. */
  payments: Payment[];
  mayStayProcessing: (transfer: ModelTransfer) => boolean;
  isListenerRestored: () => boolean;
}) => {
  const all: Deposit[] = [];
  /** Deposits that were rescanned without a fork. They can be temporarily reported as orphaned. */
  const rescannedDeposits = new Set<Deposit>();
  const latestEvents = new Map<Deposit, DepositData>();
  const depositsById = new Map<string, Deposit>();

  const findDeposit = (identity: PaymentIdentity): Deposit => {
    const deposit = all.find((candidate) => matchesIdentity(candidate, identity));
    assertInvariant(
      deposit !== undefined,
      () =>
        `a deposit was reported that was never made: ${identity.amount} ${identity.sourceTransaction}`,
    );
    return deposit;
  };

  /** The listener only looks for deposits to accounts that have a link. */
  const isOwner = (account: number): boolean =>
    orders.some((order) => order.account === account && order.linkId !== undefined);

  /**
   * The scan can miss a deposit in three cases: the address was not known in time, a pruned node
   * omitted the block without an error, or the listener was restored from a dump.
   */
  const mayBeMissed = ({ isOmittedByPrunedNode, isOwnerKnown }: Deposit): boolean =>
    isOmittedByPrunedNode || !isOwnerKnown || isListenerRestored();

  const assertStatus = (deposit: Deposit, status: DepositData["status"], context: string): void => {
    const { finalStatus, isDoubtful, isFinal, isMovedToLaterBlock, isReportable, number } = deposit;
    assertInvariant(isReportable, () => `deposit ${number} was ${context}, but is not reportable`);
    assertInvariant(
      status !== "settled" || (finalStatus === "settled" && isFinal),
      () => `deposit ${number} was ${context} as settled, but is not settled`,
    );
    assertInvariant(
      status !== "orphaned" ||
        finalStatus === "failed" ||
        isDoubtful ||
        isMovedToLaterBlock ||
        rescannedDeposits.has(deposit),
      () => `deposit ${number} was ${context} as orphaned, but is not orphaned`,
    );
  };

  return {
    all,

    receiveEvent: (type: string, data: DepositData): void => {
      const deposit = findDeposit(data);
      const { number } = deposit;
      const { destinationAddress, id, status, version } = data;
      assertInvariant(
        type === `deposit.${status}`,
        () => `deposit ${number}: ${type} has the status ${status}`,
      );
      assertInvariant(
        destinationAddress === deposit.destinationAddress,
        () => `deposit ${number} was published with another address`,
      );
      const previousEvent = latestEvents.get(deposit);
      assertInvariant(
        (depositsById.get(id) ?? deposit) === deposit && (previousEvent?.id ?? id) === id,
        () => `deposit ${number} was published under two ids, or under another deposit's id`,
      );
      depositsById.set(id, deposit);
      latestEvents.set(deposit, data);
      assertStatus(deposit, status, "published");
      if (previousEvent === undefined || isListenerRestored()) return;
      const isDuplicate = version === previousEvent.version && status === previousEvent.status;
      assertInvariant(
        isDuplicate || version > previousEvent.version,
        () => `deposit ${number}: version ${version} after ${previousEvent.version}`,
      );
      // Each status is published once, unless the chain orphans the deposit and includes it again.
      const isNewStatus = status !== previousEvent.status && status !== "seen";
      assertInvariant(
        isDuplicate || isNewStatus,
        () => `deposit ${number} was published as ${status} again`,
      );
    },

    /** Called when an operator resumes the watch at a block that can be below the fork. */
    onWatchResumed: (): void => {
      for (const deposit of all) if (deposit.isFinal) rescannedDeposits.add(deposit);
    },

    /** Called when a link is credited with a payment. The payment can be a deposit. */
    onCredited: (identity: PaymentIdentity, linkId: string): void => {
      const deposit = all.find((candidate) => matchesIdentity(candidate, identity));
      if (deposit === undefined) return;
      const { number } = deposit;
      const order = orders.find((candidate) => candidate.linkId === linkId);
      assertInvariant(
        order !== undefined && deposit.requestedOrders.has(order),
        () => `deposit ${number} was credited to link ${order?.number} without a request`,
      );
      assertInvariant(
        deposit.order === undefined || deposit.order === order,
        () =>
          `deposit ${number} was credited to two links: ${deposit.order?.number}, ${order.number}`,
      );
      assertInvariant(
        order.account === deposit.account,
        () => `deposit ${number} was credited to another account's link`,
      );
      assertInvariant(deposit.isLinkToken, () => `deposit ${number} was credited in another token`);
      assertStatus(deposit, "settled", "credited");
      if (deposit.order !== undefined) return;
      deposit.order = order;
      payments.push(Object.assign(deposit, { order }));
    },

    /** Asserts that a list of deposits is valid for its owner at this time. */
    assertListed: (account: number, listedDeposits: readonly ListedDeposit[]): readonly Deposit[] =>
      listedDeposits.map((listedDeposit) => {
        const deposit = findDeposit(listedDeposit);
        assertInvariant(
          deposit.account === account,
          () => `deposit ${deposit.number} is listed for another account`,
        );
        assertStatus(deposit, listedDeposit.status, "listed");
        return deposit;
      }),

    /**
     * Asserts an account's lists after all work is done. Deposits that were sent before the address
     * was known must be listed only if `isRescanned`.
     */
    assertLists: (
      account: number,
      listedDeposits: readonly ListedDeposit[],
      { isRescanned }: { isRescanned: boolean },
    ): void => {
      for (const deposit of all.filter(
        (candidate) => candidate.account === account && candidate.isReportable,
      )) {
        const {
          assignedTo,
          isDismissalRequested,
          isDoubtful,
          isFinal,
          isMovedToLaterBlock,
          number,
        } = deposit;
        const rows = listedDeposits.filter((listedDeposit) =>
          matchesIdentity(deposit, listedDeposit),
        );
        assertInvariant(rows.length < 2, () => `deposit ${number} is listed ${rows.length} times`);
        const [row] = rows;
        const linkId = row?.paymentLinkId ?? undefined;
        assertInvariant(
          deposit.order?.linkId === linkId &&
            (row?.decision === "assigned") === (linkId !== undefined),
          () =>
            `deposit ${number} is listed as ${row?.decision}, not for link ${deposit.order?.number}`,
        );
        assertInvariant(
          assignedTo === undefined || assignedTo === deposit.order,
          () => `deposit ${number} was assigned to link ${assignedTo?.number}, but not credited`,
        );
        assertInvariant(
          row?.decision !== "dismissed" || isDismissalRequested,
          () => `deposit ${number} was dismissed without a request`,
        );
        assertInvariant(
          row?.decision !== "unmatched" || !deposit.isDismissed,
          () => `deposit ${number} was dismissed, but is listed as unmatched`,
        );
        const canStayUndecided =
          isDoubtful ||
          (!isFinal && mayStayProcessing(deposit)) ||
          (isMovedToLaterBlock && isListenerRestored());
        if (canStayUndecided) continue;
        if (!isFinal) {
          assertInvariant(
            row === undefined || row.status === "orphaned",
            () => `deposit ${number} is listed as ${row?.status}, but never became final`,
          );
          continue;
        }
        const mustBeSettled = (isRescanned && isOwner(account)) || !mayBeMissed(deposit);
        // After a restore, the listener can have lost a deposit that it had detected.
        if (!mustBeSettled && row?.status === "seen" && isListenerRestored()) continue;
        // Finding an orphaned deposit again works like finding a new one. A node that omits the
        // block hides the deposit.
        assertInvariant(
          mustBeSettled ? row?.status === "settled" : row?.status !== "seen",
          () => `deposit ${number} is listed as ${row?.status}, but is final`,
        );
      }
    },

    /** Returns true if the scan can have missed a deposit. */
    mayHaveMissedAny: (): boolean =>
      all.some(
        (deposit) =>
          deposit.isReportable &&
          deposit.isFinal &&
          isOwner(deposit.account) &&
          mayBeMissed(deposit),
      ),
  };
};
