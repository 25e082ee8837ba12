import { describe, expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { samplePaymentReport } from "../testing/samples.ts";
import { getDepositEventType, deriveDepositId, toDepositState, isDeposit } from "./deposit.ts";
import type { Payment } from "./payment.ts";

const depositIdentity = {
  chainId: "8453",
  transactionHash: `0x${"ab".repeat(32)}`,
  referenceHash: "deposit:0xToken:0xOwner",
  ordinal: 0,
};

const createPayment = (overrides: Partial<Payment> = {}): Payment => ({
  ...samplePaymentReport({
    paymentLinkId: deriveDepositId(depositIdentity),
    sourceTransaction: depositIdentity.transactionHash,
  }),
  id: "tx_1",
  version: 3,
  firstSeenAt: new Date("2026-11-21T10:00:00.000Z"),
  payer: "0xPayer",
  ...overrides,
});

test("derives a deposit's id from every part of its position on the chain (rule CHAIN-21)", () => {
  const otherIdentities = [
    { chainId: "1" },
    { transactionHash: `0x${"cd".repeat(32)}` },
    { referenceHash: "deposit:0xToken:0xOther" },
    { ordinal: 1 },
  ];
  const ids = [
    depositIdentity,
    ...otherIdentities.map((overrides) => ({ ...depositIdentity, ...overrides })),
  ].map(deriveDepositId);
  expect(new Set(ids).size).toBe(5);
  expect(deriveDepositId({ ...depositIdentity })).toBe(ids[0]);
  expect(ids.every((paymentLinkId) => isDeposit({ paymentLinkId }))).toBe(true);
  expect(isDeposit({ paymentLinkId: newId("plink") })).toBe(false);
});

describe("toDepositState", () => {
  test.each([
    ["seen", { status: "processing" }],
    ["seen", { status: "processing", isOrphaned: true }],
    ["settled", { status: "settled" }],
    ["settled", { status: "settled", isOrphaned: false }],
    ["orphaned", { status: "settled", isOrphaned: true }],
    ["orphaned", { status: "failed" }],
  ] as const)("returns %s for the payment %j", (status, overrides) => {
    const state = toDepositState(createPayment(overrides));
    expect(state.status).toBe(status);
    expect(getDepositEventType(state).type).toBe(`deposit.${status}`);
  });

  test("contains everything that the payment has, under the deposit's id", () => {
    const { amount, chainId, destinationAddress, firstSeenAt, occurredAt, ...paymentFields } =
      createPayment();
    expect(toDepositState(createPayment())).toEqual({
      id: deriveDepositId(depositIdentity),
      version: 3,
      status: "settled",
      tokenAddress: paymentFields.tokenAddress,
      payer: "0xPayer",
      sourceTransaction: depositIdentity.transactionHash,
      amount,
      chainId,
      destinationAddress,
      firstSeenAt,
      occurredAt,
    });
  });
});
