import { describe, expect } from "@jest/globals";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import {
  type LocalFamily,
  type TokenFamily,
  startBitcoin,
  tokenFamilies,
} from "../rig/local-families.ts";
import {
  createAppliedPayment,
  createProcessingPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";
import { bitcoinPaymentRows } from "./bitcoin-rows.ts";
import { type PaymentRow, testPaymentRows } from "./payment-rows.ts";

const bitcoin = await requireBtcd();

/** The cases that apply to every chain family. */
const paymentRows: readonly PaymentRow<LocalFamily>[] = [
  [
    "of the exact amount",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.mine(1);
      const updatedLink = await system.waitForLink(link.id, ({ payments }) => payments.length > 0);
      expect(updatedLink).toEqual({
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
    "in two parts",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const [partAmount, remainderAmount] = [
        formatAmount(toBaseUnits(10n)),
        formatAmount(toBaseUnits(15n)),
      ];
      const firstHash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      await system.settleAll();
      expect(await system.readLink(link.id)).toEqual({
        status: "active",
        receivedAmount: partAmount,
        payments: [createAppliedPayment(partAmount, firstHash)],
      });
      const remainderHash = await chain.pay({ ...link, amount: toBaseUnits(15n), payer: 1 });
      const payments = [
        createAppliedPayment(partAmount, firstHash),
        createAppliedPayment(remainderAmount, remainderHash),
      ];
      return { status: "completed", receivedAmount: formatAmount(toBaseUnits(25n)), payments };
    },
  ],
  [
    "of too much",
    async ({ chain, formatAmount, link, toBaseUnits }) => {
      const amount = toBaseUnits(30n) + 1n;
      const hash = await chain.pay({ ...link, amount });
      const payments = [createAppliedPayment(formatAmount(amount), hash)];
      return { status: "completed", receivedAmount: formatAmount(amount), payments };
    },
  ],
  [
    "twice",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const firstHash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await system.settleAll();
      const secondHash = await chain.pay({ ...link, amount: toBaseUnits(25n), payer: 1 });
      const payments = [
        createAppliedPayment(requestedAmount, firstHash),
        createUnappliedPayment("completed", requestedAmount, secondHash),
      ];
      return { status: "completed", receivedAmount: requestedAmount, payments };
    },
  ],
  [
    "twice in one transaction, together with a payment of another link",
    async ({ chain, formatAmount, system, link, otherLink, toBaseUnits }) => {
      const hash = await chain.payInOneTransaction([
        { ...link, amount: toBaseUnits(10n) },
        { ...otherLink, amount: toBaseUnits(3n) },
        { ...link, amount: toBaseUnits(10n) },
      ]);
      await system.settleAll();
      const [partAmount, otherLinkAmount] = [
        formatAmount(toBaseUnits(10n)),
        formatAmount(toBaseUnits(3n)),
      ];
      expect(await system.readLink(otherLink.id)).toEqual({
        status: "active",
        receivedAmount: otherLinkAmount,
        payments: [createAppliedPayment(otherLinkAmount, hash)],
      });
      const payments = [
        createAppliedPayment(partAmount, hash),
        createAppliedPayment(partAmount, hash),
      ];
      return { status: "active", receivedAmount: formatAmount(toBaseUnits(20n)), payments };
    },
  ],
];

/** The cases that do not apply to Bitcoin, each with the reason. */
const tokenRows: readonly [...PaymentRow<TokenFamily>, notOnBitcoin: string][] = [
  [
    "in the wrong token",
    async ({ chain, link, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n), token: "wrong" });
      return { ...unpaidLink, payments: [createUnappliedPayment("wrong_token", "25", hash)] };
    },
    "Bitcoin has no tokens",
  ],
  [
    "in a token outside the catalogue",
    async ({ chain, link, toBaseUnits }) => {
      await chain.pay({ ...link, amount: toBaseUnits(25n), token: "unknown" });
      return unpaidLink;
    },
    "Bitcoin has no tokens",
  ],
  [
    "in a token that charges a fee",
    async ({ chain, createLink, system, toBaseUnits }) => {
      const link = await createLink({ toAmount: "100", tokenId: chain.feeTokenId });
      const hash = await chain.pay({ ...link, amount: toBaseUnits(100n), token: "fee" });
      await system.settleAll();
      const payments = [createAppliedPayment("99", hash)];
      expect(await system.readLink(link.id)).toEqual({
        status: "active",
        receivedAmount: "99",
        payments,
      });
      return unpaidLink;
    },
    "Bitcoin has no tokens",
  ],
  [
    "to another owner's address",
    async ({ chain, link, otherLink, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, to: otherLink.to, amount: toBaseUnits(25n) });
      return { ...unpaidLink, payments: [createUnappliedPayment("wrong_destination", "25", hash)] };
    },
    "the destination address identifies the link",
  ],
  [
    "that only an event claims, without a transfer",
    async ({ chain, link, toBaseUnits }) => {
      await chain.payForged({ ...link, amount: toBaseUnits(25n) });
      return unpaidLink;
    },
    "the paid address identifies the link",
  ],
  [
    "with the reference of no link",
    async ({ chain, link, toBaseUnits }) => {
      await chain.pay({ ...link, reference: "f".repeat(32), amount: toBaseUnits(25n) });
      return unpaidLink;
    },
    "only the address identifies a link",
  ],
  [
    "by a failed transaction",
    async ({ chain, link, toBaseUnits }) => {
      await chain.payFailing({ ...link, amount: toBaseUnits(25n) });
      return unpaidLink;
    },
    "blocks contain no failed transactions",
  ],
  [
    "in an orphaned block, and again in a later block",
    async ({ chain, system, link, toBaseUnits }) => {
      const resendable = await chain.payResendable({ ...link, amount: toBaseUnits(10n) });
      await chain.mine(1);
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      await chain.orphanNewestBlock();
      await system.settleAll();
      const droppedView = {
        ...unpaidLink,
        payments: [createProcessingPayment("10", resendable.hash)],
      };
      expect(await system.readLink(link.id)).toEqual(droppedView);
      await resendable.resend();
      const payments = [createAppliedPayment("10", resendable.hash)];
      return { status: "active", receivedAmount: "10", payments };
    },
    "has its own rows: an orphaned transaction returns to the mempool, and is in the next block",
  ],
  // These cases come last, because they advance the chain's time permanently.
  [
    "seen before the link's expiry, in a block with a later time (rule STATE-15)",
    async ({ chain, createLink, system, toBaseUnits }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 1_800;
      const link = await createLink({ expirationDate: new Date(expiresAt * 1000).toISOString() });
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.setNextBlockTime(expiresAt);
      await system.settleAll();
      const payments = [createAppliedPayment("25", hash)];
      expect(await system.readLink(link.id)).toEqual({
        status: "completed",
        receivedAmount: "25",
        payments,
      });
      return unpaidLink;
    },
    "has its own rows: its blocks use the machine's time",
  ],
  [
    "late by the time of its block and when it was seen",
    async ({ chain, createLink, system, toBaseUnits }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
      const expirationDate = new Date(expiresAt * 1000).toISOString();
      const link = await createLink({ expirationDate });
      system.advanceClock(3_601_000);
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.setNextBlockTime(expiresAt);
      await system.settleAll();
      const payments = [createUnappliedPayment("expired", "25", hash)];
      expect(await system.readLink(link.id)).toEqual({
        ...unpaidLink,
        status: "inactive",
        payments,
      });
      return unpaidLink;
    },
    "has its own rows: its blocks use the machine's time",
  ],
];

const title = (name: string): string => `what a link shows after a payment on a local ${name}:`;

for (const [name, startChain] of tokenFamilies) {
  describe(title(name), () => {
    const tokenOnlyRows = tokenRows.map(([row, pay]): PaymentRow<TokenFamily> => [row, pay]);
    testPaymentRows(startChain, [...paymentRows, ...tokenOnlyRows]);
  });
}
bitcoin.describe(title("Bitcoin"), () => {
  testPaymentRows(() => startBitcoin(bitcoin.program), [...paymentRows, ...bitcoinPaymentRows]);
});
