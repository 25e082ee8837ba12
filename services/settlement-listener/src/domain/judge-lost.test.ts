import { describe, expect, test } from "@jest/globals";
import { judgeLost } from "./judge-lost.ts";

const judge = (change: Partial<Parameters<typeof judgeLost>[0]>) =>
  judgeLost({ finalizedTo: 100, receipt: undefined, nonce: 7, usedNonces: 7, ...change });

describe("judgeLost (rule CHAIN-5)", () => {
  test("while the nonce is free the transaction may come back", () => {
    expect(judge({ usedNonces: 7 })).toBe("waiting");
    expect(judge({ usedNonces: 0 })).toBe("waiting");
  });

  test("once a final block holds another transaction of that nonce, it cannot", () => {
    expect(judge({ usedNonces: 8 })).toBe("failed");
    expect(judge({ usedNonces: 900 })).toBe("failed");
  });

  test("a nonce that could not be learnt proves nothing", () => {
    expect(judge({ nonce: null, usedNonces: 900 })).toBe("waiting");
  });

  test("where it is mined again, its receipt says what it is, and only once that is final", () => {
    const receipt = (blockNumber: number, holdsTransfer: boolean) =>
      judge({ receipt: { blockNumber, holdsTransfer }, usedNonces: 8 });
    expect(receipt(101, false)).toBe("waiting");
    expect(receipt(101, true)).toBe("waiting");
    expect(receipt(100, false)).toBe("failed");
    expect(receipt(100, true)).toBe("found");
  });
});
