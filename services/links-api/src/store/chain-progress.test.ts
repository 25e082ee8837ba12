import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { lockChainProgress, upsertChainProgress } from "./chain-progress.ts";

const rig = useRig(createRig);
const afterMs = (ms: number) => new Date(rig.clock.now().getTime() + ms);

/**
 * Creates a separate chain for a test. Returns functions that save and receive advances with a
 * given time and head.
 */
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

test("stores the later of two concurrent advances (rule EVENT-9)", async () => {
  const chain = createTestChain();
  await chain.save(102, 1);
  await chain.save(101, 0);
  await chain.save(103, 1);
  expect(await chain.readHeadBlock()).toBe(102);
  await chain.save(104, 2);
  expect(await chain.readHeadBlock()).toBe(104);
});

test("replaces an advance from a clock more than a minute ahead", async () => {
  const chain = createTestChain();
  await chain.save(101, 60_000);
  await chain.save(102, 0);
  expect(await chain.readHeadBlock()).toBe(101);
  await chain.save(103, 60_001);
  await chain.save(104, 0);
  expect(await chain.readHeadBlock()).toBe(104);
});

test("accepts advances after one from a clock an hour ahead", async () => {
  const chain = createTestChain();
  await chain.receive(101, 3_600_000);
  await chain.receive(102, 2_000);
  await chain.receive(103, 4_000);
  await chain.receive(102, 3_000);
  expect(await chain.readHeadBlock()).toBe(103);
});
