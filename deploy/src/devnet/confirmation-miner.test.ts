import { expect, test } from "@jest/globals";
import { createConfirmationMiner } from "./confirmation-miner.ts";

/** Creates an in-memory chain; the test decides when payments arrive. */
const createFakeChain = () => {
  const mempoolTransactions: string[] = [];
  const blocks: string[][] = [];
  let nextTransaction: string | undefined;
  return {
    mempoolTransactions,
    /**
     * A payment that arrives after the miner has read the mempool and before it mines the next
     * block.
     */
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

/** A number of runs that is sufficient for any payment. */
const runCountMax = 20;

test("settles a pending payment with six blocks, and then stops mining", async () => {
  const chain = createFakeChain();
  const mine = createConfirmationMiner(chain);
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.height()).toBe(6);
  chain.mempoolTransactions.push("payment");
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.countConfirmations("payment")).toBe(6);
});

test("settles a payment that arrives after the mempool is read", async () => {
  const chain = createFakeChain();
  const mine = createConfirmationMiner(chain);
  for (let runCount = 0; runCount < 5; runCount += 1) await mine();
  chain.addBeforeNextBlock("payment");
  for (let runCount = 0; runCount < runCountMax; runCount += 1) await mine();
  expect(chain.countConfirmations("payment")).toBe(6);
});
