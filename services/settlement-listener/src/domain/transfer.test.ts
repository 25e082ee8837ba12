import { describe, expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { type StoredTransfer, transferToPaymentReport } from "./transfer.ts";

const createStoredTransfer = (overrides: Partial<StoredTransfer>): StoredTransfer => ({
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
  ...overrides,
});

describe("transferToPaymentReport", () => {
  test.each(["processing", "settled", "failed"] as const)(
    "reports a transfer with the status %s and all its stored fields",
    (status) => {
      expect(transferToPaymentReport(createStoredTransfer({ payer: "0xPayer" }), status)).toEqual({
        source: "evm:8453",
        sourceId: `0x${"ab".repeat(32)}:plink_1:2`,
        paymentLinkId: "plink_1",
        status,
        amount: new Decimal("1.5"),
        tokenAddress: "0xToken",
        chainId: "8453",
        destinationAddress: "0xOwner",
        sourceTransaction: `0x${"ab".repeat(32)}`,
        occurredAt: new Date("2026-11-21T10:00:00Z"),
        blockNumber: 10,
        isOrphaned: false,
        payer: "0xPayer",
      });
    },
  );

  test("reports nothing while the link is unknown", () => {
    expect(
      transferToPaymentReport(createStoredTransfer({ paymentLinkId: null }), "settled"),
    ).toBeUndefined();
  });

  test("reports an orphaned transfer without a block and with the flag, unless it failed", () => {
    const orphanedTransfer = createStoredTransfer({ isOrphaned: true });
    expect(transferToPaymentReport(orphanedTransfer, "processing")).toMatchObject({
      blockNumber: null,
      isOrphaned: true,
    });
    expect(transferToPaymentReport(orphanedTransfer, "failed")).toMatchObject({
      isOrphaned: false,
    });
  });
});
