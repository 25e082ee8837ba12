import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { lockChainProgress, upsertChainProgress } from "./chain-progress.ts";

const rig = useRig(createRig);
const afterMs = (ms: number) => new Date(rig.clock.now().getTime() + ms);

/** What is known of a chain of its own after words at these times, and as many blocks. */
const createTestChain = () => {
  const chainId = newId("evt");
  const createAdvance = (headBlock: number, ms: number) => ({
    chainId,
    headBlock,
    settledTo: headBlock,
    neededBlocks: 0,
    at: afterMs(ms),
  });
  return {
    save: (headBlock: number, ms: number) =>
      rig.pool.transaction((tx) =>
        upsertChainProgress(tx, createAdvance(headBlock, ms), rig.clock.now()),
      ),
    receive: (headBlock: number, ms: number) =>
      rig.receiveChainAdvance(createAdvance(headBlock, ms)),
    readHeadBlock: async () =>
      (await rig.pool.transaction((tx) => lockChainProgress(tx, chainId)))?.headBlock,
  };
};

test("of two words that come at once, the later one stays (rule EVENT-9)", async () => {
  const chain = createTestChain();
  await chain.save(102, 1);
  await chain.save(101, 0);
  await chain.save(103, 1);
  expect(await chain.readHeadBlock()).toBe(102);
  await chain.save(104, 2);
  expect(await chain.readHeadBlock()).toBe(104);
});

test("a word of a clock more than a minute ahead does not stay", async () => {
  const chain = createTestChain();
  await chain.save(101, 60_000);
  await chain.save(102, 0);
  expect(await chain.readHeadBlock()).toBe(101);
  await chain.save(103, 60_001);
  await chain.save(104, 0);
  expect(await chain.readHeadBlock()).toBe(104);
});

test("a word of a clock an hour ahead silences none that follows", async () => {
  const chain = createTestChain();
  await chain.receive(101, 3_600_000);
  await chain.receive(102, 2_000);
  await chain.receive(103, 4_000);
  await chain.receive(102, 3_000);
  expect(await chain.readHeadBlock()).toBe(103);
});
