import { expect, test } from "@jest/globals";
import { proveAbsent } from "./prove-absent.ts";

/**
 * A node that has pruned all blocks below `retainedFromBlock`, with a list of the blocks that were
 * requested from it.
 */
const createNode = (retainedFromBlock: number) => {
  const requestedBlocks: number[] = [];
  let inFlightCount = 0;
  const readAbsent = async (hashes: readonly string[], sinceBlock: number) => {
    requestedBlocks.push(sinceBlock);
    inFlightCount += 1;
    expect(inFlightCount).toBe(1);
    await Promise.resolve();
    inFlightCount -= 1;
    return new Set(sinceBlock >= retainedFromBlock ? hashes : []);
  };
  return { requestedBlocks, readAbsent };
};

const blocksByTransaction = new Map(
  Array.from({ length: 500 }, (_, block) => [`transaction ${block}`, block]),
);

test.each([0, 1, 321, 499, 500])(
  "proves absence exactly where a node has data, from block %i on, with few sequential requests",
  async (retainedFromBlock) => {
    const { requestedBlocks, readAbsent } = createNode(retainedFromBlock);
    const absent = await proveAbsent(blocksByTransaction, readAbsent);
    const expected = [...blocksByTransaction].filter(([, block]) => block >= retainedFromBlock);
    expect([...absent].toSorted()).toEqual(expected.map(([name]) => name).toSorted());
    expect(requestedBlocks.length).toBeLessThan(12);
  },
);

test("asks a node with all data once, starting at the oldest transaction", async () => {
  const { requestedBlocks, readAbsent } = createNode(0);
  await proveAbsent(blocksByTransaction, readAbsent);
  expect(requestedBlocks).toEqual([0]);
});
