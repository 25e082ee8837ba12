import { hold } from "./finding.ts";
import { type Money, type Named, type Order, type Payment, isOf } from "./money.ts";

/** A plain transfer to an owner's address, which names no link. */
export type Deposit = Money & {
  account: number;
  destinationAddress: string;
  /** Whether the owner is told of it: it is no dust, and of a token of the catalogue. */
  isShown: boolean;
  /** Whether it is of the token in which links are paid. */
  isOfLinks: boolean;
  /** Whether the address was known to be an owner's before it was sent: the first look must find it. */
  isOwnerHeard: boolean;
  /** The links for which its owner has wanted it. */
  wantedFor: Set<Order>;
  isDismissalWanted: boolean;
  /** Whether the answer said so. */
  isDismissed: boolean;
  /** The link to which it was given, as the answer said. */
  assignedTo: Order | undefined;
  /** The link that has its credit. Then it is among the payments as well. */
  order: Order | undefined;
  flaw: undefined;
};

export type DepositData = Named & {
  id: string;
  version: number;
  status: "seen" | "settled" | "orphaned";
  destinationAddress: string;
};

/** A deposit as the console lists it. */
export type ShownDeposit = Named & {
  id: string;
  status: "seen" | "settled" | "orphaned";
  decision: "unmatched" | "assigned" | "dismissed";
  paymentLinkId: string | null;
  likelyLinks: readonly { id: string }[];
};

/** What is true of deposits, and what has been said of them so far (rules CHAIN-20 and CALLER-29). */
export const createDepositModel = ({
  isListenerRestored,
  mayStayOpen,
  orders,
  payments,
}: {
  orders: readonly Order[];
  /** All that counts for links: a deposit joins them with its credit. */
  payments: Payment[];
  mayStayOpen: (money: Money) => boolean;
  isListenerRestored: () => boolean;
}) => {
  const all: Deposit[] = [];
  /** Those that were read anew, though no fork took them away: each may be told as orphaned for a while. */
  const setBack = new Set<Deposit>();
  const told = new Map<Deposit, DepositData>();
  const byId = new Map<string, Deposit>();

  const depositOf = (named: Named): Deposit => {
    const deposit = all.find((one) => isOf(one, named));
    hold(
      deposit !== undefined,
      () => `a deposit is told of that nobody made: ${named.amount} ${named.sourceTransaction}`,
    );
    return deposit;
  };

  /** Where nobody asks to be paid, nothing is looked for. */
  const isOwner = (account: number): boolean =>
    orders.some((order) => order.account === account && order.linkId !== undefined);

  /** Nobody knew the address in time, a node did not say that it had forgotten the block, or a dump is older. */
  const mayBeMissed = ({ isLeftOut, isOwnerHeard }: Deposit): boolean =>
    isLeftOut || !isOwnerHeard || isListenerRestored();

  const holdStatus = (deposit: Deposit, status: DepositData["status"], where: string): void => {
    const { end, isDoubtful, isEndTold, isMoved, isShown, number } = deposit;
    hold(isShown, () => `deposit ${number} is ${where}, and is none`);
    hold(
      status !== "settled" || (end === "settled" && isEndTold),
      () => `deposit ${number} is ${where} as settled, and is not`,
    );
    hold(
      status !== "orphaned" || end === "failed" || isDoubtful || isMoved || setBack.has(deposit),
      () => `deposit ${number} is ${where} as orphaned, and is not`,
    );
  };

  return {
    all,

    hear: (type: string, data: DepositData): void => {
      const deposit = depositOf(data);
      const { number } = deposit;
      const { destinationAddress, id, status, version } = data;
      hold(type === `deposit.${status}`, () => `deposit ${number}: ${type} tells of ${status}`);
      hold(
        destinationAddress === deposit.destinationAddress,
        () => `deposit ${number} is told of at another's address`,
      );
      const before = told.get(deposit);
      hold(
        (byId.get(id) ?? deposit) === deposit && (before?.id ?? id) === id,
        () => `deposit ${number} is told under two ids, or another one's`,
      );
      byId.set(id, deposit);
      told.set(deposit, data);
      holdStatus(deposit, status, "told");
      if (before === undefined || isListenerRestored()) return;
      const isAgain = version === before.version && status === before.status;
      hold(
        isAgain || version > before.version,
        () => `deposit ${number}: version ${version} after ${before.version}`,
      );
      // It is told once, unless its chain takes it away and gives it back.
      const isStep = status !== before.status && status !== "seen";
      hold(isAgain || isStep, () => `deposit ${number} is told as ${status} once more`);
    },

    /** An operator has the watch begin anew at a block that may be deeper than the fork was. */
    resumed: (): void => {
      for (const deposit of all) if (deposit.isEndTold) setBack.add(deposit);
    },

    /** A link has the credit of a payment, which may be a deposit. */
    credited: (transaction: Named, linkId: string): void => {
      const deposit = all.find((one) => isOf(one, transaction));
      if (deposit === undefined) return;
      const { number } = deposit;
      const order = orders.find((one) => one.linkId === linkId);
      hold(
        order !== undefined && deposit.wantedFor.has(order),
        () => `deposit ${number} counts for link ${order?.number}, and nobody wanted that`,
      );
      hold(
        deposit.order === undefined || deposit.order === order,
        () => `deposit ${number} counts for two links: ${deposit.order?.number}, ${order.number}`,
      );
      hold(order.account === deposit.account, () => `deposit ${number} counts for another's link`);
      hold(deposit.isOfLinks, () => `deposit ${number} counts in another token`);
      holdStatus(deposit, "settled", "credited");
      if (deposit.order !== undefined) return;
      deposit.order = order;
      payments.push(Object.assign(deposit, { order }));
    },

    /** What an owner sees of their deposits, at any time. */
    listed: (account: number, shown: readonly ShownDeposit[]): readonly Deposit[] =>
      shown.map((one) => {
        const deposit = depositOf(one);
        hold(
          deposit.account === account,
          () => `deposit ${deposit.number} is listed for another account`,
        );
        holdStatus(deposit, one.status, "listed");
        return deposit;
      }),

    /**
     * Holds an account's lists against what is true, once all is quiet. Of deposits that came before
     * the address was known, only `isReadAgain` says that they must be there.
     */
    holdLists: (
      account: number,
      shown: readonly ShownDeposit[],
      { isReadAgain }: { isReadAgain: boolean },
    ): void => {
      for (const deposit of all.filter((one) => one.account === account && one.isShown)) {
        const { assignedTo, isDismissalWanted, isDoubtful, isEndTold, isMoved, number } = deposit;
        const rows = shown.filter((one) => isOf(deposit, one));
        hold(rows.length < 2, () => `deposit ${number} is listed ${rows.length} times`);
        const [row] = rows;
        const linkId = row?.paymentLinkId ?? undefined;
        hold(
          deposit.order?.linkId === linkId &&
            (row?.decision === "assigned") === (linkId !== undefined),
          () => `deposit ${number} is listed as ${row?.decision}, not for ${deposit.order?.number}`,
        );
        hold(
          assignedTo === undefined || assignedTo === deposit.order,
          () => `deposit ${number} was given to link ${assignedTo?.number}, and does not count`,
        );
        hold(
          row?.decision !== "dismissed" || isDismissalWanted,
          () => `deposit ${number} is dismissed, and nobody wanted that`,
        );
        hold(
          row?.decision !== "unmatched" || !deposit.isDismissed,
          () => `deposit ${number} was dismissed, and is listed as if not`,
        );
        const isOpenEnd =
          isDoubtful || (!isEndTold && mayStayOpen(deposit)) || (isMoved && isListenerRestored());
        if (isOpenEnd) continue;
        if (!isEndTold) {
          hold(
            row === undefined || row.status === "orphaned",
            () => `deposit ${number} is listed as ${row?.status}, and came to nothing`,
          );
          continue;
        }
        const isDue = (isReadAgain && isOwner(account)) || !mayBeMissed(deposit);
        // Nobody knows of what was seen once the listener was restored to before that.
        if (!isDue && row?.status === "seen" && isListenerRestored()) continue;
        // What was taken away is found again as what is new is: nodes that leave out its block hide it.
        hold(
          isDue ? row?.status === "settled" : row?.status !== "seen",
          () => `deposit ${number} is listed as ${row?.status}, and is settled`,
        );
      }
    },

    /** Whether the first look may have missed any. */
    mayLackAny: (): boolean =>
      all.some(
        (deposit) =>
          deposit.isShown && deposit.isEndTold && isOwner(deposit.account) && mayBeMissed(deposit),
      ),
  };
};
