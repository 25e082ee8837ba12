import { describe, expect, test } from "@jest/globals";
import { classifyPendingNonces } from "./pending-nonces.ts";

const pendingNonces = { count: 8, blockNumber: 100, blockHash: "0x0a" };

describe("what nodes say of a sender at a new block (rule CHAIN-5)", () => {
  test.each([
    ["waits while the block is not final", 99, "0x0a", "pending"],
    ["counts once the block is final", 100, "0x0a", "final"],
    ["counts at any later time", 5_000, "0x0a", "final"],
    ["counts for nothing once another block has its place", 100, "0x0b", "replaced"],
    ["waits while too few agree on the block", 100, undefined, "pending"],
  ] as const)("%s", (_, finalizedTo, agreedHash, expectedState) => {
    expect(classifyPendingNonces(pendingNonces, { agreedHash, finalizedTo })).toBe(expectedState);
  });
});
