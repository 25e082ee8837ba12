import { describe, expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { type ChainProgress, advanceChain, confirmationsOf } from "./confirmations.ts";

const start = new Date("2026-11-21T10:00:00Z");

type Word = { head: number; settledTo: number; afterMs?: number; needed?: number | null };

/** What a chain's words, one after the other, leave known. */
const hear = (words: readonly Word[]): ChainProgress | undefined => {
  let at = start;
  let known: ChainProgress | undefined;
  for (const { head, settledTo, afterMs = 12_000, needed = null } of words) {
    at = new Date(at.getTime() + afterMs);
    const told = { chainId: "1", headBlock: head, settledTo, neededBlocks: needed, at };
    known = advanceChain(known, told, at) ?? known;
  }
  return known;
};

describe("how many blocks a payment needs", () => {
  test("is the policy's number where there is one, however far its words lie apart", () => {
    const words = [
      { head: 100, settledTo: 88, needed: 12 },
      { head: 109, settledTo: 97, needed: 12 },
    ];
    expect(hear(words)?.neededBlocks).toBe(12);
  });

  test("is what lay between a tag and the head just before its last leap, and not less once it has leapt", () => {
    const before = [
      { head: 164, settledTo: 100 },
      { head: 195, settledTo: 100 },
    ];
    expect(hear(before)?.neededBlocks).toBe(95);
    const leapt = [...before, { head: 196, settledTo: 132 }];
    expect(hear(leapt)?.neededBlocks).toBe(95);
    const later = [...leapt, { head: 197, settledTo: 132 }, { head: 210, settledTo: 146 }];
    expect(hear(later)?.neededBlocks).toBe(65);
  });

  test("is none where the chain settles what stands above the head that was told", () => {
    const ahead = { head: 90, settledTo: 100 };
    expect(hear([ahead, { head: 91, settledTo: 101 }])?.neededBlocks).toBe(0);
  });

  test("is begun anew where nothing was heard for more than a minute", () => {
    const first = { head: 195, settledTo: 100 };
    const leap = { head: 7_300, settledTo: 7_236 };
    expect(hear([first, { ...leap, afterMs: 60_000 }])?.neededBlocks).toBe(95);
    expect(hear([first, { ...leap, afterMs: 60_001 }])?.neededBlocks).toBe(64);
  });

  test("is not what an older word says, nor the same one again", () => {
    const first = { head: 195, settledTo: 100 };
    expect(hear([first, { head: 300, settledTo: 100, afterMs: 0 }])?.headBlock).toBe(195);
    expect(hear([first, { head: 300, settledTo: 100, afterMs: -1 }])?.headBlock).toBe(195);
  });

  test("is what is told now, where the word before was of a clock more than a minute ahead", () => {
    const first = { head: 195, settledTo: 100 };
    const next = { head: 196, settledTo: 132 };
    expect(hear([first, { ...next, afterMs: -60_000 }])?.headBlock).toBe(195);
    expect(hear([first, { ...next, afterMs: -60_001 }])).toMatchObject({
      headBlock: 196,
      neededBlocks: 64,
    });
  });

  test("goes on where it is our own clock that is behind", () => {
    const before = { chainId: "1", headBlock: 195, settledTo: 100, neededBlocks: 95, at: start };
    const told = { ...before, headBlock: 196, settledTo: 132, neededBlocks: null };
    const at = new Date(start.getTime() + 12_000);
    const now = new Date(start.getTime() - 3_600_000);
    expect(advanceChain(before, { ...told, at }, now)?.neededBlocks).toBe(95);
  });
});

describe("a payment's confirmations", () => {
  const amount = new Decimal("1");
  const known = { amount, blockNumber: 100, headBlock: 103, neededBlocks: 12 };

  test("are the blocks on top of its own, of those that it needs", () => {
    expect(confirmationsOf(known)).toEqual({ seen: 3, needed: 12 });
  });

  test("never are more than it needs, nor fewer than none", () => {
    expect(confirmationsOf({ ...known, headBlock: 115 })).toEqual({ seen: 15, needed: 15 });
    expect(confirmationsOf({ ...known, headBlock: 99 })).toEqual({ seen: 0, needed: 12 });
  });

  test.each([
    ["0.99999999", null],
    ["1", { seen: 0, needed: 2 }],
    ["9.99999999", { seen: 0, needed: 2 }],
    ["10", { seen: 0, needed: 5 }],
  ])("are of more blocks where its amount needs more: %s", (paid, confirmations) => {
    const neededByAmount = [
      { from: new Decimal("1"), blocks: 2 },
      { from: new Decimal("10"), blocks: 5 },
    ];
    const seen = { blockNumber: 5, headBlock: 5, neededBlocks: 0, neededByAmount };
    expect(confirmationsOf({ ...seen, amount: new Decimal(paid) })).toEqual(confirmations);
  });

  test.each([
    ["its block", { blockNumber: null }],
    ["the chain's head", { headBlock: null, neededBlocks: null }],
  ])("are not told where %s is not known, nor where it needs none", (_what, unknown) => {
    expect(confirmationsOf({ ...known, ...unknown })).toBeNull();
    expect(confirmationsOf({ amount, blockNumber: 5, headBlock: 5, neededBlocks: 0 })).toBeNull();
  });
});
