import { describe, expect } from "@jest/globals";
import { needingBtcd } from "@payment-links/settlement-listener/testing/needing-btcd";
import {
  type LocalFamily,
  type TokenFamily,
  openBitcoin,
  tokenFamilies,
} from "../rig/local-families.ts";
import { counted, processing, uncounted, untouched } from "../rig/shown-payments.ts";
import { bitcoinRows } from "./bitcoin-rows.ts";
import { type Row, playRows } from "./play-rows.ts";

const bitcoin = await needingBtcd();

/** Rows of every family. */
const rows: readonly Row<LocalFamily>[] = [
  [
    "exact",
    async ({ chain, shown, system, link, units }) => {
      const asked = shown(units(25n));
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await chain.mine(1);
      const seen = await system.showWhen(link.id, ({ payments }) => payments.length > 0);
      expect(seen).toEqual({ ...untouched, payments: [processing(asked, hash)] });
      return { status: "completed", receivedAmount: asked, payments: [counted(asked, hash)] };
    },
  ],
  [
    "in parts",
    async ({ chain, shown, system, link, units }) => {
      const [part, remainder] = [shown(units(10n)), shown(units(15n))];
      const first = await chain.pay({ ...link, amount: units(10n) });
      await system.settleAll();
      expect(await system.show(link.id)).toEqual({
        status: "active",
        receivedAmount: part,
        payments: [counted(part, first)],
      });
      const rest = await chain.pay({ ...link, amount: units(15n), payer: 1 });
      const payments = [counted(part, first), counted(remainder, rest)];
      return { status: "completed", receivedAmount: shown(units(25n)), payments };
    },
  ],
  [
    "over",
    async ({ chain, shown, link, units }) => {
      const amount = units(30n) + 1n;
      const hash = await chain.pay({ ...link, amount });
      const payments = [counted(shown(amount), hash)];
      return { status: "completed", receivedAmount: shown(amount), payments };
    },
  ],
  [
    "twice",
    async ({ chain, shown, system, link, units }) => {
      const asked = shown(units(25n));
      const first = await chain.pay({ ...link, amount: units(25n) });
      await system.settleAll();
      const second = await chain.pay({ ...link, amount: units(25n), payer: 1 });
      const payments = [counted(asked, first), uncounted("completed", asked, second)];
      return { status: "completed", receivedAmount: asked, payments };
    },
  ],
  [
    "several times in one transaction, among payments of another link",
    async ({ chain, shown, system, link, other, units }) => {
      const hash = await chain.payTogether([
        { ...link, amount: units(10n) },
        { ...other, amount: units(3n) },
        { ...link, amount: units(10n) },
      ]);
      await system.settleAll();
      const [part, ofOther] = [shown(units(10n)), shown(units(3n))];
      expect(await system.show(other.id)).toEqual({
        status: "active",
        receivedAmount: ofOther,
        payments: [counted(ofOther, hash)],
      });
      const payments = [counted(part, hash), counted(part, hash)];
      return { status: "active", receivedAmount: shown(units(20n)), payments };
    },
  ],
];

/** Rows that Bitcoin has not, each with why that is so. */
const tokenRows: readonly [...Row<TokenFamily>, notOnBitcoin: string][] = [
  [
    "in the wrong token",
    async ({ chain, link, units }) => {
      const hash = await chain.pay({ ...link, amount: units(25n), token: "wrong" });
      return { ...untouched, payments: [uncounted("wrong_token", "25", hash)] };
    },
    "there is nothing but its coin",
  ],
  [
    "in a token of no catalogue",
    async ({ chain, link, units }) => {
      await chain.pay({ ...link, amount: units(25n), token: "unknown" });
      return untouched;
    },
    "there is nothing but its coin",
  ],
  [
    "in a token that takes a fee",
    async ({ chain, openLink, system, units }) => {
      const link = await openLink({ toAmount: "100", tokenId: chain.feeTokenId });
      const hash = await chain.pay({ ...link, amount: units(100n), token: "fee" });
      await system.settleAll();
      const payments = [counted("99", hash)];
      expect(await system.show(link.id)).toEqual({
        status: "active",
        receivedAmount: "99",
        payments,
      });
      return untouched;
    },
    "there is nothing but its coin",
  ],
  [
    "to another owner of ours",
    async ({ chain, link, other, units }) => {
      const hash = await chain.pay({ ...link, to: other.to, amount: units(25n) });
      return { ...untouched, payments: [uncounted("wrong_destination", "25", hash)] };
    },
    "where it goes is what names the link",
  ],
  [
    "with a forged reference: it is named, and nothing is moved",
    async ({ chain, link, units }) => {
      await chain.payForged({ ...link, amount: units(25n) });
      return untouched;
    },
    "a link is named by being paid",
  ],
  [
    "with a reference of no link",
    async ({ chain, link, units }) => {
      await chain.pay({ ...link, reference: "f".repeat(32), amount: units(25n) });
      return untouched;
    },
    "nothing names a link but its address",
  ],
  [
    "by a transaction that failed",
    async ({ chain, link, units }) => {
      await chain.payFailing({ ...link, amount: units(25n) });
      return untouched;
    },
    "no block holds one",
  ],
  [
    "in a block that is orphaned, and again in a later one",
    async ({ chain, system, link, units }) => {
      const waiting = await chain.payAndKeep({ ...link, amount: units(10n) });
      await chain.mine(1);
      await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
      await chain.orphan();
      await system.settleAll();
      const lost = { ...untouched, payments: [processing("10", waiting.hash)] };
      expect(await system.show(link.id)).toEqual(lost);
      await waiting.sendAgain();
      const payments = [counted("10", waiting.hash)];
      return { status: "active", receivedAmount: "10", payments };
    },
    "rows of its own: what is orphaned waits again by itself, and stands in the next block",
  ],
  // The last ones: they move the time, which does not go back.
  [
    "seen before its link's end, in a block that says a later time (rule STATE-15)",
    async ({ chain, openLink, system, units }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 1_800;
      const link = await openLink({ expirationDate: new Date(expiresAt * 1000).toISOString() });
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await chain.setTime(expiresAt);
      await system.settleAll();
      const payments = [counted("25", hash)];
      expect(await system.show(link.id)).toEqual({
        status: "completed",
        receivedAmount: "25",
        payments,
      });
      return untouched;
    },
    "rows of its own: its blocks have the machine's time",
  ],
  [
    "late, by the time of its block and when it was seen",
    async ({ chain, openLink, system, units }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
      const expirationDate = new Date(expiresAt * 1000).toISOString();
      const link = await openLink({ expirationDate });
      system.passTime(3_601_000);
      const hash = await chain.pay({ ...link, amount: units(25n) });
      await chain.setTime(expiresAt);
      await system.settleAll();
      const payments = [uncounted("expired", "25", hash)];
      expect(await system.show(link.id)).toEqual({ ...untouched, status: "inactive", payments });
      return untouched;
    },
    "rows of its own: its blocks have the machine's time",
  ],
];

const title = (name: string): string =>
  `a payment on a local ${name}, and what its link shows afterwards:`;

for (const [name, open] of tokenFamilies) {
  describe(title(name), () => {
    const ofTokens = tokenRows.map(([row, pay]): Row<TokenFamily> => [row, pay]);
    playRows(open, [...rows, ...ofTokens]);
  });
}
bitcoin.describe(title("Bitcoin"), () => {
  playRows(() => openBitcoin(bitcoin.program), [...rows, ...bitcoinRows]);
});
