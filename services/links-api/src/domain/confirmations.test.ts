import { describe, expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { type ChainProgress, updateChainProgress, computeConfirmations } from "./confirmations.ts";

const startTime = new Date("2026-11-21T10:00:00Z");

type SampleAdvance = { head: number; settledTo: number; afterMs?: number; needed?: number | null };

/** What a chain's words, one after the other, leave known. */
const applyAdvances = (advances: readonly SampleAdvance[]): ChainProgress | undefined => {
  let at = startTime;
  let progress: ChainProgress | undefined;
  for (const { head, settledTo, afterMs = 12_000, needed = null } of advances) {
    at = new Date(at.getTime() + afterMs);
    const advance = { chainId: "1", headBlock: head, settledTo, neededBlocks: needed, at };
    progress = updateChainProgress(progress, advance, at) ?? progress;
  }
  return progress;
};

describe("how many blocks a payment needs", () => {
  test("is the policy's number where there is one, however far its words lie apart", () => {
    const advances = [
      { head: 100, settledTo: 88, needed: 12 },
      { head: 109, settledTo: 97, needed: 12 },
    ];
    expect(applyAdvances(advances)?.neededBlocks).toBe(12);
  });

  test("is what lay between a tag and the head just before its last leap, and not less once it has leapt", () => {
    const earlierAdvances = [
      { head: 164, settledTo: 100 },
      { head: 195, settledTo: 100 },
    ];
    expect(applyAdvances(earlierAdvances)?.neededBlocks).toBe(95);
    const withLeap = [...earlierAdvances, { head: 196, settledTo: 132 }];
    expect(applyAdvances(withLeap)?.neededBlocks).toBe(95);
    const afterSecondLeap = [
      ...withLeap,
      { head: 197, settledTo: 132 },
      { head: 210, settledTo: 146 },
    ];
    expect(applyAdvances(afterSecondLeap)?.neededBlocks).toBe(65);
  });

  test("is none where the chain settles what stands above the head that was told", () => {
    const settledAhead = { head: 90, settledTo: 100 };
    expect(applyAdvances([settledAhead, { head: 91, settledTo: 101 }])?.neededBlocks).toBe(0);
  });

  test("is begun anew where nothing was heard for more than a minute", () => {
    const firstAdvance = { head: 195, settledTo: 100 };
    const nextLeap = { head: 7_300, settledTo: 7_236 };
    expect(applyAdvances([firstAdvance, { ...nextLeap, afterMs: 60_000 }])?.neededBlocks).toBe(95);
    expect(applyAdvances([firstAdvance, { ...nextLeap, afterMs: 60_001 }])?.neededBlocks).toBe(64);
  });

  test("is not what an older word says, nor the same one again", () => {
    const firstAdvance = { head: 195, settledTo: 100 };
    expect(
      applyAdvances([firstAdvance, { head: 300, settledTo: 100, afterMs: 0 }])?.headBlock,
    ).toBe(195);
    expect(
      applyAdvances([firstAdvance, { head: 300, settledTo: 100, afterMs: -1 }])?.headBlock,
    ).toBe(195);
  });

  test("is what is told now, where the word before was of a clock more than a minute ahead", () => {
    const firstAdvance = { head: 195, settledTo: 100 };
    const nextAdvance = { head: 196, settledTo: 132 };
    expect(applyAdvances([firstAdvance, { ...nextAdvance, afterMs: -60_000 }])?.headBlock).toBe(
      195,
    );
    expect(applyAdvances([firstAdvance, { ...nextAdvance, afterMs: -60_001 }])).toMatchObject({
      headBlock: 196,
      neededBlocks: 64,
    });
  });

  test("goes on where it is our own clock that is behind", () => {
    const storedProgress = {
      chainId: "1",
      headBlock: 195,
      settledTo: 100,
      neededBlocks: 95,
      at: startTime,
    };
    const advance = { ...storedProgress, headBlock: 196, settledTo: 132, neededBlocks: null };
    const at = new Date(startTime.getTime() + 12_000);
    const now = new Date(startTime.getTime() - 3_600_000);
    expect(updateChainProgress(storedProgress, { ...advance, at }, now)?.neededBlocks).toBe(95);
  });
});

describe("a payment's confirmations", () => {
  const amount = new Decimal("1");
  const confirmationInput = { amount, blockNumber: 100, headBlock: 103, neededBlocks: 12 };

  test("are the blocks on top of its own, of those that it needs", () => {
    expect(computeConfirmations(confirmationInput)).toEqual({ seen: 3, needed: 12 });
  });

  test("never are more than it needs, nor fewer than none", () => {
    expect(computeConfirmations({ ...confirmationInput, headBlock: 115 })).toEqual({
      seen: 15,
      needed: 15,
    });
    expect(computeConfirmations({ ...confirmationInput, headBlock: 99 })).toEqual({
      seen: 0,
      needed: 12,
    });
  });

  test.each([
    ["0.99999999", null],
    ["1", { seen: 0, needed: 2 }],
    ["9.99999999", { seen: 0, needed: 2 }],
    ["10", { seen: 0, needed: 5 }],
  ])("are of more blocks where its amount needs more: %s", (paidAmount, confirmations) => {
    const neededByAmount = [
      { from: new Decimal("1"), blocks: 2 },
      { from: new Decimal("10"), blocks: 5 },
    ];
    const unconfirmedPayment = { blockNumber: 5, headBlock: 5, neededBlocks: 0, neededByAmount };
    expect(
      computeConfirmations({ ...unconfirmedPayment, amount: new Decimal(paidAmount) }),
    ).toEqual(confirmations);
  });

  test.each([
    ["its block", { blockNumber: null }],
    ["the chain's head", { headBlock: null, neededBlocks: null }],
  ])("are not told where %s is not known, nor where it needs none", (_missing, missingFields) => {
    expect(computeConfirmations({ ...confirmationInput, ...missingFields })).toBeNull();
    expect(
      computeConfirmations({ amount, blockNumber: 5, headBlock: 5, neededBlocks: 0 }),
    ).toBeNull();
  });
});
