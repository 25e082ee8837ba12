import { describe, expect, test } from "@jest/globals";
import { classifyPendingNonces } from "./pending-nonces.ts";

const pendingNonces = { count: 8, blockNumber: 100, blockHash: "0x0a" };

describe("used nonces at a block that is not final yet (rule CHAIN-5)", () => {
  test.each([
    ["are pending while the block is not final", 99, "0x0a", "pending"],
    ["are used once the block is final", 100, "0x0a", "final"],
    ["are used at any later time", 5_000, "0x0a", "final"],
    ["are dropped once another block replaces the block", 100, "0x0b", "replaced"],
    ["are pending while too few providers agree on the block", 100, undefined, "pending"],
  ] as const)("%s", (_, finalizedTo, agreedHash, expectedState) => {
    expect(classifyPendingNonces(pendingNonces, { agreedHash, finalizedTo })).toBe(expectedState);
  });
});
