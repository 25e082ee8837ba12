import { describe, expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  openWatchedSolana,
  orderOf,
} from "../../testing/open-watched-solana.ts";
import { freshAddress } from "../../testing/solana/open-solana-chain.ts";

const chain = useRig(openWatchedSolana);
const rig = useRigEach(() => startWatchRig(chain));

type Pay = (on: WatchedSolana, link: PaymentLinkState, other: PaymentLinkState) => Promise<unknown>;

const cases: readonly [string, Pay, readonly string[]][] = [
  ["exact", (on, link) => on.pay(orderOf(link, { amount: 25_000_000n })), ["25"]],
  ["over", (on, link) => on.pay(orderOf(link, { amount: 30_000_001n })), ["30.000001"]],
  [
    "in parts, by two payers",
    async (on, link) => {
      await on.pay(orderOf(link, { amount: 10_000_000n }));
      await on.pay(orderOf(link, { amount: 15_000_000n, payer: 1 }));
    },
    ["10", "15"],
  ],
  [
    "twice in one transaction",
    (on, link) => on.payTogether([orderOf(link), orderOf(link, { amount: 1_000_000n })]),
    ["2.5", "1"],
  ],
  [
    "for two links in one transaction, of which this is one",
    (on, link, other) =>
      on.payTogether([
        orderOf(other, { amount: 7_000_000n, to: link.destinationAddress }),
        orderOf(link),
      ]),
    ["2.5"],
  ],
  ["with a fee on transfer", (on, link) => on.pay(orderOf(link, { token: "fee" })), ["2.475"]],
  [
    "in another token of the catalogue",
    (on, link) => on.pay(orderOf(link, { token: "newer" })),
    ["2.5"],
  ],
  ["through a look-up table", (on, link) => on.pay(orderOf(link, { usesTable: true })), ["2.5"]],
  ["in a token of no catalogue", (on, link) => on.pay(orderOf(link, { token: "other" })), []],
  ["to a stranger", (on, link) => on.pay(orderOf(link, { to: freshAddress() })), []],
  ["without the reference", (on, link) => on.pay(orderOf(link, { references: [] })), []],
  ["with the reference alone", (on, link) => on.payForged(orderOf(link)), []],
  ["in the chain's own coin", (on, link) => on.payCoin(orderOf(link)), []],
  ["by a transaction that failed", (on, link) => on.payFailing(orderOf(link)), []],
];

describe("what is told of a link that is paid", () => {
  test.each(cases)("%s", async (_, pay, amounts) => {
    const [link, other, last] = [await rig.hearNew(), await rig.hearNew(), await rig.hearNew()];
    await rig.caughtUp();
    await pay(chain, link, other);
    chain.mine();
    // What is told of a later payment says that everything before it has been read.
    await chain.pay(orderOf(last));
    chain.mine(finalizedLag + 1);
    await waitUntil("all is settled", () => rig.told(last.id).at(-1)?.status === "settled");
    const settled = () => rig.told(link.id).filter(({ status }) => status === "settled");
    await waitUntil("it is settled", () => settled().length === amounts.length);
    expect(
      settled()
        .map(({ amount }) => amount)
        .sort(),
    ).toEqual([...amounts].sort());
    expect(settled().every((one) => one.destinationAddress === link.destinationAddress)).toBe(true);
  });

  test("a payment to another owner of ours is told with where it went", async () => {
    const [link, other] = [await rig.hearNew(), await rig.hearNew()];
    await rig.caughtUp();
    await chain.pay(orderOf(link, { to: other.destinationAddress }));
    chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => rig.told(link.id).at(-1)?.status === "settled");
    expect(rig.told(link.id).at(-1)?.destinationAddress).toBe(other.destinationAddress);
    expect(rig.told(other.id)).toEqual([]);
  });
});
