import { expect, test } from "@jest/globals";
import { mineBehindPayments } from "./mine-behind-payments.ts";

/** A chain in memory, whose payments come when the test says. */
const openChain = () => {
  const waiting: string[] = [];
  const blocks: string[][] = [];
  let comesBeforeBlock: string | undefined;
  return {
    waiting,
    /** This payment comes between the next look at those that wait and the block made after it. */
    comeBeforeBlock: (txid: string) => (comesBeforeBlock = txid),
    confirmationsOf: (txid: string) =>
      blocks.length - blocks.findIndex((block) => block.includes(txid)),
    height: () => blocks.length,
    mempool: async () => [...waiting],
    mine: async () => {
      if (comesBeforeBlock !== undefined) waiting.push(comesBeforeBlock);
      comesBeforeBlock = undefined;
      blocks.push(["miner", ...waiting.splice(0)]);
      return [String(blocks.length - 1)];
    },
    transactionsOf: async (hash: string) => blocks[Number(hash)] ?? [],
  };
};

/** More often than any payment needs. */
const timesMax = 20;

test("a payment that waits is settled by six blocks, and then the chain rests", async () => {
  const chain = openChain();
  const mine = mineBehindPayments(chain);
  for (let times = 0; times < timesMax; times += 1) await mine();
  expect(chain.height()).toBe(6);
  chain.waiting.push("payment");
  for (let times = 0; times < timesMax; times += 1) await mine();
  expect(chain.confirmationsOf("payment")).toBe(6);
});

test("so is one that comes after the look at those that wait", async () => {
  const chain = openChain();
  const mine = mineBehindPayments(chain);
  for (let times = 0; times < 5; times += 1) await mine();
  chain.comeBeforeBlock("payment");
  for (let times = 0; times < timesMax; times += 1) await mine();
  expect(chain.confirmationsOf("payment")).toBe(6);
});
