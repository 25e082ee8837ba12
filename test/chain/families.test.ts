import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalFamily, type Waiting, families } from "../rig/local-families.ts";
import {
  type LinkOrder,
  type PaymentSystem,
  type ShownLink,
  openPaymentSystem,
} from "../rig/payment-system.ts";
import { counted, processing, uncounted, untouched } from "../rig/shown-payments.ts";

type Link = Awaited<ReturnType<PaymentSystem["createLink"]>>;
type Payment = ShownLink["payments"][number];

const asked = "25";
const unit = 1_000_000n;

/** What a row has at hand: a link of 25, another owner's, and the chain that it is paid on. */
type Hands = { chain: LocalFamily; system: PaymentSystem; link: Link; other: Link };
type Row = readonly [name: string, pay: (hands: Hands) => Promise<ShownLink>];

/** Each row pays, and says what its link shows once all of it is final. */
const rows: readonly Row[] = [
  [
    "exact",
    async ({ chain, system, link }) => {
      const hash = await chain.pay({ ...link, amount: 25n * unit });
      await chain.mine(1);
      const seen = await system.showWhen(link.id, ({ payments }) => payments.length > 0);
      expect(seen).toEqual({ ...untouched, payments: [processing(asked, hash)] });
      return { status: "completed", receivedAmount: asked, payments: [counted(asked, hash)] };
    },
  ],
  [
    "in parts",
    async ({ chain, system, link }) => {
      const first = await chain.pay({ ...link, amount: 10n * unit });
      await system.settleAll();
      const part = { status: "active", receivedAmount: "10", payments: [counted("10", first)] };
      expect(await system.show(link.id)).toEqual(part);
      const rest = await chain.pay({ ...link, amount: 15n * unit, payer: 1 });
      const payments = [counted("10", first), counted("15", rest)];
      return { status: "completed", receivedAmount: asked, payments };
    },
  ],
  [
    "over",
    async ({ chain, link }) => {
      const hash = await chain.pay({ ...link, amount: 30n * unit + 1n });
      const payments = [counted("30.000001", hash)];
      return { status: "completed", receivedAmount: "30.000001", payments };
    },
  ],
  [
    "twice",
    async ({ chain, system, link }) => {
      const first = await chain.pay({ ...link, amount: 25n * unit });
      await system.settleAll();
      const second = await chain.pay({ ...link, amount: 25n * unit, payer: 1 });
      const payments = [counted(asked, first), uncounted("completed", asked, second)];
      return { status: "completed", receivedAmount: asked, payments };
    },
  ],
  [
    "in the wrong token",
    async ({ chain, link }) => {
      const hash = await chain.pay({ ...link, amount: 25n * unit, token: "wrong" });
      return { ...untouched, payments: [uncounted("wrong_token", asked, hash)] };
    },
  ],
  [
    "in a token of no catalogue",
    async ({ chain, link }) => {
      await chain.pay({ ...link, amount: 25n * unit, token: "unknown" });
      return untouched;
    },
  ],
  [
    "to another owner of ours",
    async ({ chain, link, other }) => {
      const hash = await chain.pay({ ...link, to: other.to, amount: 25n * unit });
      return { ...untouched, payments: [uncounted("wrong_destination", asked, hash)] };
    },
  ],
  [
    "with a forged reference: it is named, and nothing is moved",
    async ({ chain, link }) => {
      await chain.payForged({ ...link, amount: 25n * unit });
      return untouched;
    },
  ],
  [
    "with a reference of no link",
    async ({ chain, link }) => {
      await chain.pay({ ...link, reference: "f".repeat(32), amount: 25n * unit });
      return untouched;
    },
  ],
  [
    "by a transaction that failed",
    async ({ chain, link }) => {
      await chain.payFailing({ ...link, amount: 25n * unit });
      return untouched;
    },
  ],
  [
    "several times in one transaction, among payments of another link",
    async ({ chain, system, link, other }) => {
      const hash = await chain.payTogether([
        { ...link, amount: 10n * unit },
        { ...other, amount: 3n * unit },
        { ...link, amount: 10n * unit },
      ]);
      await system.settleAll();
      const ofOther = { status: "active", receivedAmount: "3", payments: [counted("3", hash)] };
      expect(await system.show(other.id)).toEqual(ofOther);
      const payments = [counted("10", hash), counted("10", hash)];
      return { status: "active", receivedAmount: "20", payments };
    },
  ],
  [
    "in a block that is orphaned, and again in a later one",
    async ({ chain, system, link }) => {
      const waiting: Waiting = await chain.payAndKeep({ ...link, amount: 10n * unit });
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
  ],
];

describe.each(families)(
  "a payment on a local %s, and what its link shows afterwards:",
  (_name, open) => {
    let chain: LocalFamily;
    let system: PaymentSystem;
    beforeAll(async () => {
      chain = await open();
      const { finality, finalizedLag } = chain;
      system = await openPaymentSystem({ chain, settings: { finality }, finalizedLag });
      await system.startWatcher();
    });
    afterAll(async () => {
      await system?.close();
      await chain?.close();
    });

    const openLink = async (order: LinkOrder): Promise<Link> => {
      const link = await system.createLink(order);
      await system.heard(link.id);
      return link;
    };

    /** Payments of one block stand in no order of their own. */
    const sorted = (link: ShownLink): ShownLink => ({
      ...link,
      payments: link.payments.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b))),
    });
    const placeOf = ({ amount, reason, sourceTransaction }: Payment): string =>
      `${reason ?? ""} ${amount} ${sourceTransaction ?? ""}`;

    test.each(rows)("%s", async (_row, pay) => {
      const [link, other] = [
        await openLink({ toAmount: asked }),
        await openLink({ toAmount: asked }),
      ];
      const expected = await pay({ chain, system, link, other });
      await system.settleAll();
      expect(sorted(await system.show(link.id))).toEqual(sorted(expected));
    });

    test("in a token that takes a fee", async () => {
      const link = await openLink({ toAmount: "100", tokenId: chain.feeTokenId });
      const hash = await chain.pay({ ...link, amount: 100n * unit, token: "fee" });
      await system.settleAll();
      const payments = [counted("99", hash)];
      expect(await system.show(link.id)).toEqual({
        status: "active",
        receivedAmount: "99",
        payments,
      });
    });

    // The last one: it moves the chain's time, which does not go back.
    test("late, by the time of its block", async () => {
      const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
      const expirationDate = new Date(expiresAt * 1000).toISOString();
      const link = await openLink({ toAmount: asked, expirationDate });
      const hash = await chain.pay({ ...link, amount: 25n * unit });
      await chain.setTime(expiresAt);
      await system.settleAll();
      const payments = [uncounted("expired", asked, hash)];
      expect(await system.show(link.id)).toEqual({ ...untouched, payments });
    });
  },
);
