import { describe, expect, test } from "@jest/globals";
import type { PlacedLog } from "../node-answers.ts";
import { orderLogs } from "./order-logs.ts";

const word = (digit: string) => `0x${digit.repeat(64)}` as const;
const address = `0x${"a".repeat(40)}` as const;
const topic0 = word("9");

const log = (blockNumber: number, logIndex: number, change: Partial<PlacedLog> = {}) => ({
  address,
  topics: [topic0],
  data: "0x" as const,
  blockNumber,
  blockHash: word(String(blockNumber)),
  transactionHash: word("f"),
  logIndex,
  ...change,
});

const order = (logs: PlacedLog[], blocks: { number: number; hash: `0x${string}` }[] = []) =>
  orderLogs(logs, { filters: [{ address, topic0 }], fromBlock: 1, toBlock: 5, blocks });

describe("a node's logs", () => {
  test("are put in the order of the chain, each once", () => {
    const { logs, repeatedCount } = order([log(3, 1), log(1, 7), log(3, 0), log(1, 7)]);
    expect(logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [1, 7],
      [3, 0],
      [3, 1],
    ]);
    expect(repeatedCount).toBe(1);
  });

  test("that were removed, or are other events of a proxy, are left out", () => {
    const removed = { ...log(2, 0), removed: true };
    expect(order([removed, log(2, 1, { topics: [word("8")] }), log(2, 2)]).logs).toHaveLength(1);
  });

  test.each([
    ["of another contract", [log(2, 0, { address: `0x${"b".repeat(40)}` })]],
    ["of a block before the range", [log(0, 0)]],
    ["of a block behind the range", [log(6, 0)]],
    ["of two blocks at one height", [log(2, 0), log(2, 1, { blockHash: word("e") })]],
    ["of another block than is known at its height", [log(4, 0, { blockHash: word("e") })]],
  ])("%s are refused as a whole", (_, logs) => {
    expect(() => order(logs, [{ number: 4, hash: word("4") }])).toThrow();
  });
});
