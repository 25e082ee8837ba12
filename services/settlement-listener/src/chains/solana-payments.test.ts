import { describe, expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  startWatchedSolana,
  createOrder,
} from "../testing/start-watched-solana.ts";
import { freshAddress } from "@payment-links/local-chains/solana/start-solana-chain";

const chain = useRig(startWatchedSolana);
const rig = useRigEach(() => startWatchRig(chain));

type Pay = (
  chain: WatchedSolana,
  link: PaymentLinkState,
  otherLink: PaymentLinkState,
) => Promise<unknown>;

const cases: readonly [string, Pay, readonly string[]][] = [
  ["exact", (chain, link) => chain.pay(createOrder(link, { amount: 25_000_000n })), ["25"]],
  ["over", (chain, link) => chain.pay(createOrder(link, { amount: 30_000_001n })), ["30.000001"]],
  [
    "in parts, by two payers",
    async (chain, link) => {
      await chain.pay(createOrder(link, { amount: 10_000_000n }));
      await chain.pay(createOrder(link, { amount: 15_000_000n, payer: 1 }));
    },
    ["10", "15"],
  ],
  [
    "twice in one transaction",
    (chain, link) =>
      chain.payInOneTransaction([createOrder(link), createOrder(link, { amount: 1_000_000n })]),
    ["2.5", "1"],
  ],
  [
    "for this link and another in one transaction",
    (chain, link, otherLink) =>
      chain.payInOneTransaction([
        createOrder(otherLink, { amount: 7_000_000n, to: link.destinationAddress }),
        createOrder(link),
      ]),
    ["2.5"],
  ],
  [
    "with a fee on transfer",
    (chain, link) => chain.pay(createOrder(link, { token: "fee" })),
    ["2.475"],
  ],
  [
    "in another token of the catalogue",
    (chain, link) => chain.pay(createOrder(link, { token: "newer" })),
    ["2.5"],
  ],
  [
    "through a look-up table",
    (chain, link) => chain.pay(createOrder(link, { usesLookupTable: true })),
    ["2.5"],
  ],
  [
    "in a token of no catalogue",
    (chain, link) => chain.pay(createOrder(link, { token: "other" })),
    [],
  ],
  [
    "to an unrelated address",
    (chain, link) => chain.pay(createOrder(link, { to: freshAddress() })),
    [],
  ],
  ["without the reference", (chain, link) => chain.pay(createOrder(link, { references: [] })), []],
  ["with the reference alone", (chain, link) => chain.payForged(createOrder(link)), []],
  ["in the chain's own coin", (chain, link) => chain.payCoin(createOrder(link)), []],
  ["by a transaction that failed", (chain, link) => chain.payFailing(createOrder(link)), []],
];

describe("the listener on Solana", () => {
  test.each(cases)("publishes the settled amounts of a link paid: %s", async (_, pay, amounts) => {
    const [link, otherLink, lastLink] = [
      await rig.receiveNewLink(),
      await rig.receiveNewLink(),
      await rig.receiveNewLink(),
    ];
    await rig.waitUntilScanned();
    await pay(chain, link, otherLink);
    chain.mine();
    // Once a later payment settles, all earlier blocks have been read.
    await chain.pay(createOrder(lastLink));
    chain.mine(finalizedLag + 1);
    await waitUntil(
      "all is settled",
      () => rig.publishedPayments(lastLink.id).at(-1)?.status === "settled",
    );
    const listSettled = () =>
      rig.publishedPayments(link.id).filter(({ status }) => status === "settled");
    await waitUntil("it is settled", () => listSettled().length === amounts.length);
    expect(
      listSettled()
        .map(({ amount }) => amount)
        .sort(),
    ).toEqual([...amounts].sort());
    expect(
      listSettled().every((payment) => payment.destinationAddress === link.destinationAddress),
    ).toBe(true);
  });

  test("publishes the sender of a payment (rule CALLER-42)", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(createOrder(link, { payer: 1 }));
    chain.mine(finalizedLag + 1);
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedPayments(link.id).at(-1)?.payer).toBe(chain.payers[1]);
  });

  test("publishes the actual destination of a payment to another owner", async () => {
    const [link, otherLink] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
    await rig.waitUntilScanned();
    await chain.pay(createOrder(link, { to: otherLink.destinationAddress }));
    chain.mine(finalizedLag + 1);
    await waitUntil(
      "it is settled",
      () => rig.publishedPayments(link.id).at(-1)?.status === "settled",
    );
    expect(rig.publishedPayments(link.id).at(-1)?.destinationAddress).toBe(
      otherLink.destinationAddress,
    );
    expect(rig.publishedPayments(otherLink.id)).toEqual([]);
  });
});
