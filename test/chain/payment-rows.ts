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

/** What a row has at hand: the chain, a link of 25 units that is paid on it, and another owner's. */
type RowContext<Family> = {
  chain: Family;
  system: PaymentSystem;
  link: Link;
  otherLink: Link;
  /** So many units of the chain's, in base units. */
  toBaseUnits: (count: bigint) => bigint;
  /** How base units are shown. */
  formatAmount: (amount: bigint) => string;
  /** Opens a link of which the watcher has heard; of 25 units if not said otherwise. */
  createLink: (linkOptions: Partial<LinkOptions>) => Promise<Link>;
};

/** Each row pays, and says what its link shows once all of it is final. */
export type PaymentRow<Family> = readonly [
  name: string,
  pay: (context: RowContext<Family>) => Promise<OwnerLinkView>,
];

/** Tests rows on one chain, which is watched all along. */
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

/** Payments of one block stand in no order of their own. */
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
