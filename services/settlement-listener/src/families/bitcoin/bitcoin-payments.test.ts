import { expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "../../testing/bitcoin/fresh-address.ts";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import {
  type WatchedBitcoin,
  openWatchedBitcoin,
  payeeOf,
} from "../../testing/open-watched-bitcoin.ts";

const { describe, program } = await needingBtcd();

type Pay = (
  on: WatchedBitcoin,
  link: PaymentLinkState,
  other: PaymentLinkState,
) => Promise<unknown>;

const stranger = freshBitcoinAddress();
const several = (count: number) =>
  Array.from({ length: count }, () => ({ to: freshBitcoinAddress(), amount: 1_000n }));

/** What is paid, and the payments that the link has then. */
const cases: readonly [string, Pay, readonly string[]][] = [
  ["exact", (on, link) => on.pay(payeeOf(link, 25_000n)), ["0.00025"]],
  ["over", (on, link) => on.pay(payeeOf(link, 25_001n)), ["0.00025001"]],
  ["of one unit less than asked", (on, link) => on.pay(payeeOf(link, 24_999n)), ["0.00024999"]],
  ["of dust", (on, link) => on.pay(payeeOf(link, 330n)), ["0.0000033"]],
  [
    "in parts, in two blocks",
    async (on, link) => {
      await on.pay(payeeOf(link, 10_000n));
      await on.mine();
      await on.pay(payeeOf(link, 15_000n));
    },
    ["0.0001", "0.00015"],
  ],
  [
    "twice in one block",
    async (on, link) => {
      await on.pay(payeeOf(link, 25_000n));
      await on.pay(payeeOf(link, 25_000n));
    },
    ["0.00025", "0.00025"],
  ],
  [
    "by two outputs of one transaction",
    (on, link) => on.payTogether([payeeOf(link, 2_000n), payeeOf(link, 1_000n)]),
    ["0.00001", "0.00002"],
  ],
  [
    "beside another link in one transaction",
    (on, link, other) => on.payTogether([payeeOf(other, 7_000n), payeeOf(link, 2_000n)]),
    ["0.00002"],
  ],
  [
    "by an exchange that pays many at once",
    (on, link) => on.payTogether([...several(120), payeeOf(link, 5_000n), ...several(120)]),
    ["0.00005"],
  ],
  [
    "by a payment that was sent again with a higher fee",
    async (on, link) => {
      const first = await on.pay(payeeOf(link, 3_000n));
      await on.replace(first);
    },
    ["0.00003"],
  ],
  [
    "by a payment whose coins went elsewhere before it was mined",
    async (on, link) => {
      const first = await on.pay(payeeOf(link, 3_000n));
      await on.doubleSpend(first);
    },
    [],
  ],
  ["to a stranger", (on) => on.pay({ to: stranger, amount: 25_000n }), []],
];

describe("what is told of a link that is paid on Bitcoin (rule CHAIN-2)", () => {
  const chain = useRig(() => openWatchedBitcoin(program));
  const rig = useRigEach(() => startWatchRig(chain));

  const settledOf = ({ id }: PaymentLinkState) =>
    rig.told(id).filter(({ status }) => status === "settled");

  test.each(cases)("%s", async (_, pay, amounts) => {
    const [link, other, last] = [await rig.hearNew(), await rig.hearNew(), await rig.hearNew()];
    await rig.caughtUp();
    await pay(chain, link, other);
    await chain.mine();
    // What is told of a later payment says that everything before it has been read.
    await chain.pay(payeeOf(last));
    await chain.mine();
    await rig.waitStatus(last.id, "settled");
    expect(
      settledOf(link)
        .map(({ amount }) => amount)
        .toSorted(),
    ).toEqual(amounts);
    expect(settledOf(link).every((one) => one.destinationAddress === link.destinationAddress)).toBe(
      true,
    );
  });

  test("an amount that no float holds is told to its last digit", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(payeeOf(link, 12_345_678n));
    await chain.mine(3);
    await rig.waitStatus(link.id, "settled");
    expect(rig.told(link.id).at(-1)?.amount).toBe("0.12345678");
  });

  test("a payment tells its block's own time, by which it is late", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(payeeOf(link));
    const [hash] = await chain.mine();
    await rig.waitStatus(link.id, "settled");
    const { time } = (await chain.ask("getblockheader", hash)) as { time: number };
    const occurredAt = rig.told(link.id).at(-1)?.occurredAt ?? "";
    expect(new Date(occurredAt).getTime()).toBe(time * 1000);
  });

  test("a payment of before the listener heard of its link is found by the second look", async () => {
    await rig.caughtUp();
    const link = rig.sampleLink();
    await chain.pay(payeeOf(link));
    await chain.mine();
    await rig.caughtUp();
    await rig.hear(link);
    await chain.mine(12);
    await rig.waitStatus(link.id, "settled");
    expect(rig.statuses(link.id)).toEqual(["settled 0.00001"]);
  });

  test("one beside another link's, of before the listener heard of it, is found by the second look", async () => {
    const known = await rig.hearNew();
    const late = rig.sampleLink();
    await rig.caughtUp();
    await chain.payTogether([payeeOf(known), payeeOf(late)]);
    await chain.mine();
    await rig.waitStatus(known.id, "settled");
    await rig.hear(late);
    await chain.mine(12);
    await rig.waitStatus(late.id, "settled");
    expect(rig.statuses(late.id)).toEqual(["settled 0.00001"]);
  });
});
