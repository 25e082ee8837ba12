import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { lockChainProgress, upsertChainProgress } from "./chain-advances.ts";

const rig = useRig(openRig);
const afterMs = (ms: number) => new Date(rig.clock.now().getTime() + ms);

/** What is known of a chain of its own after words at these times, and as many blocks. */
const open = () => {
  const chainId = newId("evt");
  const word = (headBlock: number, ms: number) => ({
    chainId,
    headBlock,
    settledTo: headBlock,
    neededBlocks: 0,
    at: afterMs(ms),
  });
  return {
    keep: (headBlock: number, ms: number) =>
      rig.pool.transaction((tx) => upsertChainProgress(tx, word(headBlock, ms), rig.clock.now())),
    hear: (headBlock: number, ms: number) => rig.advance(word(headBlock, ms)),
    head: async () =>
      (await rig.pool.transaction((tx) => lockChainProgress(tx, chainId)))?.headBlock,
  };
};

test("of two words that come at once, the later one stays (rule EVENT-9)", async () => {
  const chain = open();
  await chain.keep(102, 1);
  await chain.keep(101, 0);
  await chain.keep(103, 1);
  expect(await chain.head()).toBe(102);
  await chain.keep(104, 2);
  expect(await chain.head()).toBe(104);
});

test("a word of a clock more than a minute ahead does not stay", async () => {
  const chain = open();
  await chain.keep(101, 60_000);
  await chain.keep(102, 0);
  expect(await chain.head()).toBe(101);
  await chain.keep(103, 60_001);
  await chain.keep(104, 0);
  expect(await chain.head()).toBe(104);
});

test("a word of a clock an hour ahead silences none that follows", async () => {
  const chain = open();
  await chain.hear(101, 3_600_000);
  await chain.hear(102, 2_000);
  await chain.hear(103, 4_000);
  await chain.hear(102, 3_000);
  expect(await chain.head()).toBe(103);
});
