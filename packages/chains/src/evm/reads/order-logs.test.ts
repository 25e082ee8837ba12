import { describe, expect, test } from "@jest/globals";
import type { IndexedLog } from "./rpc-results.ts";
import { orderLogs } from "./order-logs.ts";

const toWord = (digit: string) => `0x${digit.repeat(64)}` as const;
const address = `0x${"a".repeat(40)}` as const;
const topic0 = toWord("9");

const createLog = (blockNumber: number, logIndex: number, overrides: Partial<IndexedLog> = {}) => ({
  address,
  topics: [topic0],
  data: "0x" as const,
  blockNumber,
  blockHash: toWord(String(blockNumber)),
  transactionHash: toWord("f"),
  logIndex,
  ...overrides,
});

const order = (logs: IndexedLog[], blocks: { number: number; hash: `0x${string}` }[] = []) =>
  orderLogs(logs, { filters: [{ address, topic0 }], fromBlock: 1, toBlock: 5, blocks });

describe("orderLogs", () => {
  test("sorts logs by their position on the chain and removes duplicates", () => {
    const { logs, repeatedCount } = order([
      createLog(3, 1),
      createLog(1, 7),
      createLog(3, 0),
      createLog(1, 7),
    ]);
    expect(logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [1, 7],
      [3, 0],
      [3, 1],
    ]);
    expect(repeatedCount).toBe(1);
  });

  test("leaves out removed logs and a proxy's other events", () => {
    const removed = { ...createLog(2, 0), removed: true };
    expect(
      order([removed, createLog(2, 1, { topics: [toWord("8")] }), createLog(2, 2)]).logs,
    ).toHaveLength(1);
  });

  test.each([
    ["of another contract", [createLog(2, 0, { address: `0x${"b".repeat(40)}` })]],
    ["of a block before the range", [createLog(0, 0)]],
    ["of a block after the range", [createLog(6, 0)]],
    ["of two blocks at one height", [createLog(2, 0), createLog(2, 1, { blockHash: toWord("e") })]],
    [
      "of a block other than the known one at its height",
      [createLog(4, 0, { blockHash: toWord("e") })],
    ],
  ])("rejects the whole response if it has logs %s", (_, logs) => {
    expect(() => order(logs, [{ number: 4, hash: toWord("4") }])).toThrow();
  });
});
