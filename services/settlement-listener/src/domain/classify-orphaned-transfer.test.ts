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

describe("classifyOrphanedTransfer (rule CHAIN-5)", () => {
  test("waits while the nonce is unused, because the transaction can still be mined", () => {
    expect(classify({ usedNonces: 7 })).toBe("waiting");
    expect(classify({ usedNonces: 0 })).toBe("waiting");
  });

  test("fails once a final block holds another transaction with that nonce", () => {
    expect(classify({ usedNonces: 8 })).toBe("failed");
    expect(classify({ usedNonces: 900 })).toBe("failed");
  });

  test("waits if the nonce is unknown", () => {
    expect(classify({ nonce: null, usedNonces: 900 })).toBe("waiting");
  });

  test("decides by the receipt of a transaction mined again, once that receipt is final", () => {
    const classifyWithReceipt = (blockNumber: number, holdsTransfer: boolean) =>
      classify({ receipt: { blockNumber, holdsTransfer }, usedNonces: 8 });
    expect(classifyWithReceipt(101, false)).toBe("waiting");
    expect(classifyWithReceipt(101, true)).toBe("waiting");
    expect(classifyWithReceipt(100, false)).toBe("failed");
    expect(classifyWithReceipt(100, true)).toBe("found");
  });
});
