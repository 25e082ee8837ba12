import { expect, test } from "@jest/globals";
import { formatUnits } from "viem";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { LocalFamily } from "../rig/local-families.ts";
import {
  type LinkOptions,
  type PaymentSystem,
  type OwnerLinkView,
  createPaymentSystem,
} from "../rig/payment-system.ts";

type Link = Awaited<ReturnType<PaymentSystem["createLink"]>>;

/**
 * The fixtures of a case: the chain, a link of 25 units on that chain, and a link of another owner.
 */
type RowContext<Family> = {
  chain: Family;
  system: PaymentSystem;
  link: Link;
  otherLink: Link;
  /** Converts whole units of the chain to base units. */
  toBaseUnits: (count: bigint) => bigint;
  /** Formats base units as the API returns them. */
  formatAmount: (amount: bigint) => string;
  /**
   * Creates a link and waits until the watcher has received it. Its amount is 25 units by default.
   */
  createLink: (linkOptions: Partial<LinkOptions>) => Promise<Link>;
};

/**
 * A case makes payments and returns what its link shows once all of them are final. By default, that
 * is the link of the context.
 */
export type PaymentRow<Family> = readonly [
  name: string,
  pay: (context: RowContext<Family>) => Promise<OwnerLinkView & { of?: Link }>,
];

/** Starts a chain that is watched the whole time, and links that can be paid on it. */
export const useWatchedChain = <Family extends LocalFamily>(
  startChain: () => Promise<Family>,
  options: { watchesTransfers?: boolean } = {},
) =>
  useRig(async () => {
    const chain = await startChain();
    const { finalizedLag, settings } = chain;
    const system = await createPaymentSystem({ chain, settings, finalizedLag, ...options });
    await system.startWatcher();
    return {
      chain,
      system,
      createLink: async (linkOptions: Partial<LinkOptions> = {}): Promise<Link> => {
        const toAmount = formatUnits(25n * chain.amountUnit, chain.decimals);
        const link = await system.createLink({ toAmount, ...linkOptions });
        await system.waitForLinkReceived(link.id);
        return link;
      },
      close: async () => {
        await system.close();
        await chain.close();
      },
    };
  });
type WatchedChain<Family extends LocalFamily> = ReturnType<typeof useWatchedChain<Family>>;

/** Runs payment cases on one chain. Where deposits are searched, no payment may become one. */
export const testPaymentRows = <Family extends LocalFamily>(
  rig: WatchedChain<Family>,
  paymentRows: readonly PaymentRow<Family>[],
): void => {
  test.each(paymentRows)("%s", async (_row, pay) => {
    const { chain, createLink, system } = rig;
    const [link, otherLink] = [await createLink(), await createLink()];
    const { of = link, ...expected } = await pay({
      chain,
      system,
      link,
      otherLink,
      toBaseUnits: (count) => count * chain.amountUnit,
      formatAmount: (amount) => formatUnits(amount, chain.decimals),
      createLink,
    });
    await system.settleAll();
    expect(sortPayments(await system.readLink(of.id))).toEqual(sortPayments(expected));
    for (const { to } of [link, otherLink, of]) expect(await system.countDeposits(to)).toBe(0);
  });
};

/** Sorts the payments, because those of one block have no defined order. */
const sortPayments = (link: OwnerLinkView): OwnerLinkView => ({
  ...link,
  payments: link.payments.toSorted((first, second) =>
    toSortKey(first).localeCompare(toSortKey(second)),
  ),
});
const toSortKey = ({
  amount,
  reason,
  sourceTransaction,
}: OwnerLinkView["payments"][number]): string =>
  `${reason ?? ""} ${amount} ${sourceTransaction ?? ""}`;
