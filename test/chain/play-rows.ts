import { expect, test } from "@jest/globals";
import { formatUnits } from "viem";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { LocalFamily } from "../rig/local-families.ts";
import {
  type LinkOrder,
  type PaymentSystem,
  type ShownLink,
  openPaymentSystem,
} from "../rig/payment-system.ts";

type Link = Awaited<ReturnType<PaymentSystem["createLink"]>>;

/** What a row has at hand: the chain, a link of 25 units that is paid on it, and another owner's. */
type Hands<Family> = {
  chain: Family;
  system: PaymentSystem;
  link: Link;
  other: Link;
  /** So many units of the chain's, in base units. */
  units: (count: bigint) => bigint;
  /** How base units are shown. */
  shown: (amount: bigint) => string;
  /** Opens a link of which the watcher has heard; of 25 units if not said otherwise. */
  openLink: (order: Partial<LinkOrder>) => Promise<Link>;
};

/** Each row pays, and says what its link shows once all of it is final. */
export type Row<Family> = readonly [
  name: string,
  pay: (hands: Hands<Family>) => Promise<ShownLink>,
];

/** Tests rows on one chain, which is watched all along. */
export const playRows = <Family extends LocalFamily>(
  open: () => Promise<Family>,
  rows: readonly Row<Family>[],
): void => {
  const rig = useRig(async () => {
    const chain = await open();
    const { finalizedLag, settings } = chain;
    const system = await openPaymentSystem({ chain, settings, finalizedLag });
    await system.startWatcher();
    const close = async () => {
      await system.close();
      await chain.close();
    };
    return { chain, system, close };
  });

  test.each(rows)("%s", async (_row, pay) => {
    const { chain, system } = rig;
    const units = (count: bigint) => count * chain.unit;
    const shown = (amount: bigint) => formatUnits(amount, chain.decimals);
    const openLink = async (order: Partial<LinkOrder> = {}): Promise<Link> => {
      const link = await system.createLink({ toAmount: shown(units(25n)), ...order });
      await system.heard(link.id);
      return link;
    };
    const [link, other] = [await openLink(), await openLink()];
    const expected = await pay({ chain, system, link, other, units, shown, openLink });
    await system.settleAll();
    expect(sorted(await system.show(link.id))).toEqual(sorted(expected));
  });
};

/** Payments of one block stand in no order of their own. */
const sorted = (link: ShownLink): ShownLink => ({
  ...link,
  payments: link.payments.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b))),
});
const placeOf = ({ amount, reason, sourceTransaction }: ShownLink["payments"][number]): string =>
  `${reason ?? ""} ${amount} ${sourceTransaction ?? ""}`;
