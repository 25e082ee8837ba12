import { describe, expect, test } from "@jest/globals";
import { classifyOrphanedTransfer } from "./classify-orphaned-transfer.ts";

const classify = (overrides: Partial<Parameters<typeof classifyOrphanedTransfer>[0]>) =>
  classifyOrphanedTransfer({
    finalizedTo: 100,
    receipt: undefined,
    nonce: 7,
    usedNonces: 7,
    ...overrides,
  });

describe("judgeLost (rule CHAIN-5)", () => {
  test("while the nonce is free the transaction may come back", () => {
    expect(classify({ usedNonces: 7 })).toBe("waiting");
    expect(classify({ usedNonces: 0 })).toBe("waiting");
  });

  test("once a final block holds another transaction of that nonce, it cannot", () => {
    expect(classify({ usedNonces: 8 })).toBe("failed");
    expect(classify({ usedNonces: 900 })).toBe("failed");
  });

  test("a nonce that could not be learnt proves nothing", () => {
    expect(classify({ nonce: null, usedNonces: 900 })).toBe("waiting");
  });

  test("where it is mined again, its receipt says what it is, and only once that is final", () => {
    const classifyWithReceipt = (blockNumber: number, holdsTransfer: boolean) =>
      classify({ receipt: { blockNumber, holdsTransfer }, usedNonces: 8 });
    expect(classifyWithReceipt(101, false)).toBe("waiting");
    expect(classifyWithReceipt(101, true)).toBe("waiting");
    expect(classifyWithReceipt(100, false)).toBe("failed");
    expect(classifyWithReceipt(100, true)).toBe("found");
  });
});
