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
  isOrphaned: false,
  paymentLinkId: "plink_1",
  ...change,
});

describe("sightingOfTransfer", () => {
  test.each(["processing", "settled", "failed"] as const)(
    "a transfer of which its chain says %s is told so, with its place",
    (status) => {
      expect(sightingOfTransfer(kept({}), status)).toMatchObject({
        source: "evm:8453",
        sourceId: `0x${"ab".repeat(32)}:plink_1:2`,
        status,
        sourceTransaction: `0x${"ab".repeat(32)}`,
        blockNumber: 10,
        isOrphaned: false,
      });
    },
  );

  test("nobody is told where no link is known", () => {
    expect(sightingOfTransfer(kept({ paymentLinkId: null }), "settled")).toBeUndefined();
  });

  test("what was orphaned stands nowhere, and is flagged, unless it failed", () => {
    const orphaned = kept({ isOrphaned: true });
    expect(sightingOfTransfer(orphaned, "processing")).toMatchObject({
      blockNumber: null,
      isOrphaned: true,
    });
    expect(sightingOfTransfer(orphaned, "failed")).toMatchObject({ isOrphaned: false });
  });
});
