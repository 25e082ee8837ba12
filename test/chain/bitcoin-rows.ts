import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type { LocalBitcoin } from "../rig/local-families.ts";
import type { PaymentSystem, ShownLink } from "../rig/payment-system.ts";
import { counted, processing, uncounted, untouched } from "../rig/shown-payments.ts";
import type { Row } from "./play-rows.ts";

const coin = 100_000_000n;
/** By default an amount of a coin waits for so many blocks on top of its own. */
const blocksOfCoin = 5;

const isSeen = ({ payments }: ShownLink): boolean => payments.length > 0;
const hasFailed = ({ payments }: ShownLink): boolean =>
  payments.some(({ status }) => status === "failed");
const failed = (amount: string, hash: string) => ({
  ...processing(amount, hash),
  status: "failed",
});

const soonSeconds = 5;

/** An end that is near, and how to wait until blocks are of after it. */
const soon = () => {
  const endsAtSeconds = Math.floor(Date.now() / 1_000) + soonSeconds;
  return {
    expirationDate: new Date(endsAtSeconds * 1_000).toISOString(),
    // oxlint-disable-next-line reliability/no-fixed-wait -- blocks have the machine's own time
    passed: () => waitUntil("its end", () => Date.now() >= endsAtSeconds * 1_000),
  };
};

/**
 * What can happen to a payment on Bitcoin alone. That one transaction pays two links is a row of every
 * family.
 */
export const bitcoinRows: readonly Row<LocalBitcoin>[] = [
  [
    "seen before any block holds it",
    async ({ chain, link, shown, system, units }) => {
      const asked = shown(units(25n));
      const hash = await chain.pay({ ...link, amount: units(25n) });
      expect(await system.showWhen(link.id, isSeen)).toEqual({
        ...untouched,
        payments: [processing(asked, hash)],
      });
      return { status: "completed", receivedAmount: asked, payments: [counted(asked, hash)] };
    },
  ],
  [
    "of a large amount, which waits for more blocks than a small one of the same transaction",
    async ({ chain, link, other, system, units }) => {
      const hash = await chain.payTogether([
        { ...link, amount: coin },
        { ...other, amount: units(25n) },
      ]);
      await chain.mine(blocksOfCoin);
      await system.showWhen(other.id, ({ status }) => status === "completed");
      await system.scanAll();
      expect(await system.show(link.id)).toEqual({
        ...untouched,
        payments: [processing("1", hash)],
      });
      return { status: "completed", receivedAmount: "1", payments: [counted("1", hash)] };
    },
  ],
  [
    "by one that another replaced for a higher fee: it counts once",
    async ({ chain, link, shown, system, units }) => {
      const asked = shown(units(25n));
      const first = await chain.pay({ ...link, amount: units(25n) });
      await system.showWhen(link.id, isSeen);
      const second = await chain.replace(first);
      await chain.mine(1 + chain.finalDepthBlocks);
      await system.showWhen(link.id, hasFailed);
      const payments = [failed(asked, first), counted(asked, second)];
      return { status: "completed", receivedAmount: asked, payments };
    },
  ],
  [
    "by one whose coins were spent elsewhere before it was in a block",
    async ({ chain, link, shown, system, units }) => {
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await system.showWhen(link.id, isSeen);
      await chain.doubleSpend(hash);
      await chain.mine(1 + chain.finalDepthBlocks);
      await system.showWhen(link.id, hasFailed);
      return { ...untouched, payments: [failed(shown(units(25n)), hash)] };
    },
  ],
  [
    "in a block that is orphaned, and again in the one that replaces it",
    async ({ chain, link, shown, system, units }) => {
      const part = shown(units(10n));
      const hash = await chain.pay({ ...link, amount: units(10n) });
      await chain.mine(1);
      await system.scanAll();
      await chain.reorg(1);
      return { status: "active", receivedAmount: part, payments: [counted(part, hash)] };
    },
  ],
  [
    "in a block that is orphaned, and its coins spent elsewhere in the one that replaces it",
    async ({ chain, link, shown, system, units }) => {
      const hash = await chain.pay({ ...link, amount: units(10n) });
      await chain.mine(1);
      await system.scanAll();
      await chain.reorg(1, { dropped: [hash] });
      await system.settleAll();
      await chain.mine(chain.finalDepthBlocks);
      await system.showWhen(link.id, hasFailed);
      return { ...untouched, payments: [failed(shown(units(10n)), hash)] };
    },
  ],
  [
    "and taken away after it had settled: it stays, and is flagged",
    async ({ chain, link, shown, system, units }) => {
      const asked = shown(units(25n));
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await chain.mine(1 + chain.finalizedLag);
      await system.showWhen(link.id, ({ status }) => status === "completed");
      await chain.reorg(1 + chain.finalizedLag, { dropped: [hash] });
      await system.showWhen(link.id, ({ payments }) => payments[0]?.orphaned === true);
      const payments = [{ ...counted(asked, hash), orphaned: true } as const];
      return { status: "completed", receivedAmount: asked, payments };
    },
  ],
  [
    "seen before its link's end, and in a block after it: it is in time (rule STATE-15)",
    async ({ chain, openLink, shown, system, units }) => {
      const { expirationDate, passed } = soon();
      const link = await openLink({ expirationDate });
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await system.showWhen(link.id, isSeen);
      await passed();
      await system.settleAll();
      const asked = shown(units(25n));
      const payments = [counted(asked, hash)];
      expect(await system.show(link.id)).toEqual({
        status: "completed",
        receivedAmount: asked,
        payments,
      });
      return untouched;
    },
  ],
  [
    "to the address of a link that has expired",
    async ({ chain, openLink, shown, system, units }) => {
      const { expirationDate, passed } = soon();
      const link = await openLink({ expirationDate });
      await passed();
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await expectUncounted(system, {
        id: link.id,
        payment: uncounted("expired", shown(units(25n)), hash),
      });
      return untouched;
    },
  ],
  [
    "to the address of a link that takes no more payments",
    async ({ chain, link, shown, system, units }) => {
      await system.deactivate(link.id);
      const hash = await chain.pay({ ...link, amount: units(25n) });
      const payments = [uncounted("inactive", shown(units(25n)), hash)];
      return { ...untouched, status: "inactive", payments };
    },
  ],
];

const expectUncounted = async (
  system: PaymentSystem,
  { id, payment }: { id: string; payment: ShownLink["payments"][number] },
): Promise<void> => {
  await system.settleAll();
  expect(await system.show(id)).toEqual({ ...untouched, status: "inactive", payments: [payment] });
};
