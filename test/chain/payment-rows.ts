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

/** A case makes payments and returns what its link shows once all of them are final. */
export type PaymentRow<Family> = readonly [
  name: string,
  pay: (context: RowContext<Family>) => Promise<OwnerLinkView>,
];

/** Runs payment cases on one chain. The chain is watched the whole time. */
export const testPaymentRows = <Family extends LocalFamily>(
  startChain: () => Promise<Family>,
  paymentRows: readonly PaymentRow<Family>[],
): void => {
  const rig = useRig(async () => {
    const chain = await startChain();
    const { finalizedLag, settings } = chain;
    const system = await createPaymentSystem({ chain, settings, finalizedLag });
    await system.startWatcher();
    const close = async () => {
      await system.close();
      await chain.close();
    };
    return { chain, system, close };
  });

  test.each(paymentRows)("%s", async (_row, pay) => {
    const { chain, system } = rig;
    const toBaseUnits = (count: bigint) => count * chain.amountUnit;
    const formatAmount = (amount: bigint) => formatUnits(amount, chain.decimals);
    const createLink = async (linkOptions: Partial<LinkOptions> = {}): Promise<Link> => {
      const link = await system.createLink({
        toAmount: formatAmount(toBaseUnits(25n)),
        ...linkOptions,
      });
      await system.waitForLinkReceived(link.id);
      return link;
    };
    const [link, otherLink] = [await createLink(), await createLink()];
    const expected = await pay({
      chain,
      system,
      link,
      otherLink,
      toBaseUnits,
      formatAmount,
      createLink,
    });
    await system.settleAll();
    expect(sortPayments(await system.readLink(link.id))).toEqual(sortPayments(expected));
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
