import { expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import {
  type WatchedBitcoin,
  startWatchedBitcoin,
  toPayee,
} from "../testing/start-watched-bitcoin.ts";

const { describe, program } = await requireBtcd();

type Pay = (chain: WatchedBitcoin, link: PaymentLinkState) => Promise<unknown>;

const unknownAddress = freshBitcoinAddress();
const createPayees = (count: number) =>
  Array.from({ length: count }, () => ({ to: freshBitcoinAddress(), amount: 1_000n }));

/** A case name, a function that pays the link, and the settled amounts that the link then has. */
const cases: readonly [string, Pay, readonly string[]][] = [
  ["of dust", (chain, link) => chain.pay(toPayee(link, 330n)), ["0.0000033"]],
  [
    "twice in one block",
    async (chain, link) => {
      await chain.pay(toPayee(link, 25_000n));
      await chain.pay(toPayee(link, 25_000n));
    },
    ["0.00025", "0.00025"],
  ],
  [
    "by an exchange that pays many recipients together",
    (chain, link) =>
      chain.payInOneTransaction([
        ...createPayees(120),
        toPayee(link, 5_000n),
        ...createPayees(120),
      ]),
    ["0.00005"],
  ],
  ["to an unrelated address", (chain) => chain.pay({ to: unknownAddress, amount: 25_000n }), []],
];

describe("the listener on Bitcoin (rule CHAIN-2)", () => {
  const chain = useRig(() => startWatchedBitcoin(program));
  const rig = useRigEach(() => startWatchRig(chain));

  const listSettled = ({ id }: PaymentLinkState) =>
    rig.publishedPayments(id).filter(({ status }) => status === "settled");

  test.each(cases)(
    "publishes the settled amounts, and no sender, of a link paid: %s",
    async (_, pay, amounts) => {
      const [link, lastLink] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
      await rig.waitUntilScanned();
      await pay(chain, link);
      await chain.mine();
      // Once a later payment settles, all earlier blocks have been read.
      await chain.pay(toPayee(lastLink));
      await chain.mine();
      await rig.waitForStatus(lastLink.id, "settled");
      expect(
        listSettled(link)
          .map(({ amount }) => amount)
          .toSorted(),
      ).toEqual(amounts);
      expect(
        listSettled(link).every(
          (payment) => payment.destinationAddress === link.destinationAddress,
        ),
      ).toBe(true);
      expect(listSettled(link).some((payment) => "payer" in payment)).toBe(false);
    },
  );

  test("publishes every digit of an amount that no float can represent", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(toPayee(link, 12_345_678n));
    await chain.mine(3);
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedPayments(link.id).at(-1)?.amount).toBe("0.12345678");
  });

  test("publishes the block's own time, which decides whether the payment is late", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(toPayee(link));
    const [hash] = await chain.mine();
    await rig.waitForStatus(link.id, "settled");
    const { time } = (await chain.callRpc("getblockheader", hash)) as { time: number };
    const occurredAt = rig.publishedPayments(link.id).at(-1)?.occurredAt ?? "";
    expect(new Date(occurredAt).getTime()).toBe(time * 1000);
  });

  test("finds a payment made before its link was received in a transaction that also paid another link", async () => {
    const knownLink = await rig.receiveNewLink();
    const lateLink = rig.sampleLink();
    await rig.waitUntilScanned();
    await chain.payInOneTransaction([toPayee(knownLink), toPayee(lateLink)]);
    await chain.mine();
    await rig.waitForStatus(knownLink.id, "settled");
    await rig.receiveLinks(lateLink);
    await chain.mine(12);
    await rig.waitForStatus(lateLink.id, "settled");
    expect(rig.publishedStatuses(lateLink.id)).toEqual(["settled 0.00001"]);
  });
});
