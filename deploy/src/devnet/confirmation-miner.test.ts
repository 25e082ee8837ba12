import { expect, test } from "@jest/globals";
import { createConfirmationMiner } from "./confirmation-miner.ts";

/** A chain in memory, whose payments come when the test says. */
const createFakeChain = () => {
  const mempoolTransactions: string[] = [];
  const blocks: string[][] = [];
  let nextTransaction: string | undefined;
  return {
    mempoolTransactions,
    /** This payment comes between the next look at those that wait and the block made after it. */
    addBeforeNextBlock: (txid: string) => (nextTransaction = txid),
    countConfirmations: (txid: string) =>
      blocks.length - blocks.findIndex((block) => block.includes(txid)),
    height: () => blocks.length,
    readMempool: async () => [...mempoolTransactions],
    mine: async () => {
      if (nextTransaction !== undefined) mempoolTransactions.push(nextTransaction);
      nextTransaction = undefined;
      blocks.push(["miner", ...mempoolTransactions.splice(0)]);
      return [String(blocks.length - 1)];
    },
    readTransactions: async (hash: string) => blocks[Number(hash)] ?? [],
  };
};

/** More often than any payment needs. */
const runCountMax = 20;

test("a payment that waits is settled by six blocks, and then the chain rests", async () => {
  const chain = createFakeChain();
  const mine = createConfirmationMiner(chain);
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.height()).toBe(6);
  chain.mempoolTransactions.push("payment");
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.countConfirmations("payment")).toBe(6);
});

test("so is one that comes after the look at those that wait", async () => {
  const chain = createFakeChain();
  const mine = createConfirmationMiner(chain);
  for (let runCount = 0; runCount < 5; runCount += 1) await mine();
  chain.addBeforeNextBlock("payment");
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.countConfirmations("payment")).toBe(6);
});
