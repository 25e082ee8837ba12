import { describe, expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { type ChainProgress, updateChainProgress, computeConfirmations } from "./confirmations.ts";

const startTime = new Date("2026-11-21T10:00:00Z");

type SampleAdvance = { head: number; settledTo: number; afterMs?: number; needed?: number | null };

/** Returns the progress after applying these advances in order. */
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

describe("updateChainProgress", () => {
  test("uses the policy's block count if there is one, however far apart the updates are", () => {
    const advances = [
      { head: 100, settledTo: 88, needed: 12 },
      { head: 109, settledTo: 97, needed: 12 },
    ];
    expect(applyAdvances(advances)?.neededBlocks).toBe(12);
  });

  test("estimates the gap between tag and head just before the tag's last jump, and does not shrink right after a jump", () => {
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

  test("needs 0 blocks if the settled block is above the reported head", () => {
    const settledAhead = { head: 90, settledTo: 100 };
    expect(applyAdvances([settledAhead, { head: 91, settledTo: 101 }])?.neededBlocks).toBe(0);
  });

  test("restarts the estimate after more than a minute without updates", () => {
    const firstAdvance = { head: 195, settledTo: 100 };
    const nextLeap = { head: 7_300, settledTo: 7_236 };
    expect(applyAdvances([firstAdvance, { ...nextLeap, afterMs: 60_000 }])?.neededBlocks).toBe(95);
    expect(applyAdvances([firstAdvance, { ...nextLeap, afterMs: 60_001 }])?.neededBlocks).toBe(64);
  });

  test("ignores an update that is not newer than the stored one", () => {
    const firstAdvance = { head: 195, settledTo: 100 };
    expect(
      applyAdvances([firstAdvance, { head: 300, settledTo: 100, afterMs: 0 }])?.headBlock,
    ).toBe(195);
    expect(
      applyAdvances([firstAdvance, { head: 300, settledTo: 100, afterMs: -1 }])?.headBlock,
    ).toBe(195);
  });

  test("replaces stored progress whose time is more than a minute in the future", () => {
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

  test("keeps the estimate when our own clock is behind", () => {
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

describe("computeConfirmations", () => {
  const amount = new Decimal("1");
  const confirmationInput = { amount, blockNumber: 100, headBlock: 103, neededBlocks: 12 };

  test("returns the blocks above the payment's own and the number of blocks needed", () => {
    expect(computeConfirmations(confirmationInput)).toEqual({ seen: 3, needed: 12 });
  });

  test("never returns more seen than needed, or a negative number", () => {
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
  ])("needs more blocks for larger amounts: %s", (paidAmount, confirmations) => {
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
    ["the payment's block", { blockNumber: null }],
    ["the chain's head", { headBlock: null, neededBlocks: null }],
  ])("returns null if %s is unknown or no blocks are needed", (_missing, missingFields) => {
    expect(computeConfirmations({ ...confirmationInput, ...missingFields })).toBeNull();
    expect(
      computeConfirmations({ amount, blockNumber: 5, headBlock: 5, neededBlocks: 0 }),
    ).toBeNull();
  });
});
