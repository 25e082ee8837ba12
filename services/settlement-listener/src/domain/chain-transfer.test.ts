import { describe, expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { type StoredTransfer, sightingOfTransfer } from "./chain-transfer.ts";

const kept = (change: Partial<StoredTransfer>): StoredTransfer => ({
  chainId: "8453",
  transactionHash: `0x${"ab".repeat(32)}`,
  ordinal: 2,
  blockNumber: 10,
  blockHash: "0x01",
  occurredAt: new Date("2026-11-21T10:00:00Z"),
  referenceHash: "0x02",
  tokenAddress: "0xToken",
  destinationAddress: "0xOwner",
  amount: new Decimal("1.5"),
  sender: "0xpayer",
  nonce: 1,
  state: "seen",
  isOrphaned: false,
  paymentLinkId: "plink_1",
  ...change,
});

describe("sightingOfTransfer", () => {
  test.each([
    ["seen", "processing"],
    ["settled", "settled"],
    ["final", "settled"],
    ["failed", "failed"],
  ] as const)("a transfer that is %s is told as %s", (state, status) => {
    expect(sightingOfTransfer(kept({ state }))).toMatchObject({
      source: "evm:8453",
      sourceId: `0x${"ab".repeat(32)}:plink_1:2`,
      status,
      sourceTransaction: `0x${"ab".repeat(32)}`,
    });
  });

  test("nobody is told where no link is known, or what was orphaned before it settled", () => {
    expect(sightingOfTransfer(kept({ paymentLinkId: null }))).toBeUndefined();
    expect(sightingOfTransfer(kept({ isOrphaned: true }))).toBeUndefined();
  });

  test("what was orphaned after it settled stays settled, and is flagged", () => {
    expect(sightingOfTransfer(kept({ state: "settled", isOrphaned: true }))).toMatchObject({
      status: "settled",
      isOrphaned: true,
    });
    expect(sightingOfTransfer(kept({ state: "settled" }))).toMatchObject({ isOrphaned: false });
  });
});
