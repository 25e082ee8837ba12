import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type { LocalBitcoin } from "../rig/local-families.ts";
import type { OwnerLinkView } from "../rig/payment-system.ts";
import {
  createAppliedPayment,
  createProcessingPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";
import type { PaymentRow } from "./payment-rows.ts";

const satoshisPerBitcoin = 100_000_000n;
/** The default number of confirmations for a large amount. */
const confirmationsOfLargeAmount = 5;

const hasPayments = ({ payments }: OwnerLinkView): boolean => payments.length > 0;
const hasFailed = ({ payments }: OwnerLinkView): boolean =>
  payments.some(({ status }) => status === "failed");
const createFailedPayment = (amount: string, hash: string) => ({
  ...createProcessingPayment(amount, hash),
  status: "failed",
});

const expiryDelaySeconds = 5;

/**
 * Creates an expiration date in the near future, and a function that waits until new blocks are
 * later than this date.
 */
const createNearExpiry = () => {
  const expiresAtSeconds = Math.floor(Date.now() / 1_000) + expiryDelaySeconds;
  return {
    expirationDate: new Date(expiresAtSeconds * 1_000).toISOString(),
    waitUntilExpired: () =>
      // oxlint-disable-next-line reliability/no-fixed-wait -- blocks use the machine's own time
      waitUntil("the link expires", () => Date.now() >= expiresAtSeconds * 1_000),
  };
};

/**
 * The payment cases that only apply to Bitcoin. A transaction that pays two links is not among
 * them, because it applies to every family.
 */
export const bitcoinPaymentRows: readonly PaymentRow<LocalBitcoin>[] = [
  [
    "seen before it is in a block",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      expect(await system.waitForLink(link.id, hasPayments)).toEqual({
        ...unpaidLink,
        payments: [createProcessingPayment(requestedAmount, hash)],
      });
      return {
        status: "completed",
        receivedAmount: requestedAmount,
        payments: [createAppliedPayment(requestedAmount, hash)],
      };
    },
  ],
  [
    "of a large amount, which needs more confirmations than a small one in the same transaction",
    async ({ chain, link, otherLink, system, toBaseUnits }) => {
      const hash = await chain.payInOneTransaction([
        { ...link, amount: satoshisPerBitcoin },
        { ...otherLink, amount: toBaseUnits(25n) },
      ]);
      await chain.mine(confirmationsOfLargeAmount);
      await system.waitForLink(otherLink.id, ({ status }) => status === "completed");
      await system.waitUntilScanned();
      expect(await system.readLink(link.id)).toEqual({
        ...unpaidLink,
        payments: [createProcessingPayment("1", hash)],
      });
      return {
        status: "completed",
        receivedAmount: "1",
        payments: [createAppliedPayment("1", hash)],
      };
    },
  ],
  [
    "by a transaction that was replaced with a higher fee, which is applied once",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const firstHash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await system.waitForLink(link.id, hasPayments);
      const secondHash = await chain.replace(firstHash);
      await chain.mine(1 + chain.finalDepthBlocks);
      await system.waitForLink(link.id, hasFailed);
      const payments = [
        createFailedPayment(requestedAmount, firstHash),
        createAppliedPayment(requestedAmount, secondHash),
      ];
      return { status: "completed", receivedAmount: requestedAmount, payments };
    },
  ],
  [
    "by a transaction that was double-spent before it was in a block",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await system.waitForLink(link.id, hasPayments);
      await chain.doubleSpend(hash);
      await chain.mine(1 + chain.finalDepthBlocks);
      await system.waitForLink(link.id, hasFailed);
      return {
        ...unpaidLink,
        payments: [createFailedPayment(formatAmount(toBaseUnits(25n)), hash)],
      };
    },
  ],
  [
    "in an orphaned block, and again in the block that replaces it",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const partAmount = formatAmount(toBaseUnits(10n));
      const hash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      await chain.mine(1);
      await system.waitUntilScanned();
      await chain.reorg(1);
      return {
        status: "active",
        receivedAmount: partAmount,
        payments: [createAppliedPayment(partAmount, hash)],
      };
    },
  ],
  [
    "in an orphaned block, and double-spent in the block that replaces it",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      await chain.mine(1);
      await system.waitUntilScanned();
      await chain.reorg(1, { dropped: [hash] });
      await system.settleAll();
      await chain.mine(chain.finalDepthBlocks);
      await system.waitForLink(link.id, hasFailed);
      return {
        ...unpaidLink,
        payments: [createFailedPayment(formatAmount(toBaseUnits(10n)), hash)],
      };
    },
  ],
  [
    "orphaned by a reorg after it settled, which stays applied and is flagged",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.mine(1 + chain.finalizedLag);
      await system.waitForLink(link.id, ({ status }) => status === "completed");
      await chain.reorg(1 + chain.finalizedLag, { dropped: [hash] });
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.orphaned === true);
      const payments = [
        { ...createAppliedPayment(requestedAmount, hash), orphaned: true } as const,
      ];
      return { status: "completed", receivedAmount: requestedAmount, payments };
    },
  ],
  [
    "seen before the link's expiry and in a block after it, which is in time (rule STATE-15)",
    async ({ chain, createLink, formatAmount, system, toBaseUnits }) => {
      const { expirationDate, waitUntilExpired } = createNearExpiry();
      const link = await createLink({ expirationDate });
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await system.waitForLink(link.id, hasPayments);
      await waitUntilExpired();
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const payments = [createAppliedPayment(requestedAmount, hash)];
      return { of: link, status: "completed", receivedAmount: requestedAmount, payments };
    },
  ],
  [
    "to the address of a link that has expired",
    async ({ chain, createLink, formatAmount, toBaseUnits }) => {
      const { expirationDate, waitUntilExpired } = createNearExpiry();
      const link = await createLink({ expirationDate });
      await waitUntilExpired();
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      const payments = [createUnappliedPayment("expired", formatAmount(toBaseUnits(25n)), hash)];
      return { ...unpaidLink, of: link, status: "inactive", payments };
    },
  ],
  [
    "to the address of a deactivated link",
    async ({ chain, link, formatAmount, system, toBaseUnits }) => {
      await system.deactivate(link.id);
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      const payments = [createUnappliedPayment("inactive", formatAmount(toBaseUnits(25n)), hash)];
      return { ...unpaidLink, status: "inactive", payments };
    },
  ],
];
