import { describe, expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { sampleSighting } from "../testing/samples.ts";
import { depositEventOf, depositId, depositReference, depositState, isDeposit } from "./deposit.ts";
import type { Payment } from "./payment.ts";

const place = {
  chainId: "8453",
  transactionHash: `0x${"ab".repeat(32)}`,
  referenceHash: depositReference({ tokenAddress: "0xToken", destinationAddress: "0xOwner" }),
  ordinal: 0,
};

const payment = (change: Partial<Payment> = {}): Payment => ({
  ...sampleSighting({ paymentLinkId: depositId(place), sourceTransaction: place.transactionHash }),
  id: "tx_1",
  version: 3,
  firstSeenAt: new Date("2026-11-21T10:00:00.000Z"),
  payer: "0xPayer",
  ...change,
});

test("a deposit's id follows from its place on the chain, and from each part of it (rule CHAIN-21)", () => {
  const elsewhere = [
    { chainId: "1" },
    { transactionHash: `0x${"cd".repeat(32)}` },
    { referenceHash: "deposit:0xToken:0xOther" },
    { ordinal: 1 },
  ];
  const ids = [place, ...elsewhere.map((change) => ({ ...place, ...change }))].map(depositId);
  expect(new Set(ids).size).toBe(5);
  expect(depositId({ ...place })).toBe(ids[0]);
  expect(ids.every((paymentLinkId) => isDeposit({ paymentLinkId }))).toBe(true);
  expect(isDeposit({ paymentLinkId: newId("plink") })).toBe(false);
});

describe("what is told of a deposit", () => {
  test.each([
    ["seen", { status: "processing" }],
    ["seen", { status: "processing", isOrphaned: true }],
    ["settled", { status: "settled" }],
    ["settled", { status: "settled", isOrphaned: false }],
    ["orphaned", { status: "settled", isOrphaned: true }],
    ["orphaned", { status: "failed" }],
  ] as const)("is %s where its payment is %j", (status, change) => {
    const told = depositState(payment(change));
    expect(told.status).toBe(status);
    expect(depositEventOf(told).type).toBe(`deposit.${status}`);
  });

  test("is all that its payment holds, under the deposit's id", () => {
    const { amount, chainId, destinationAddress, firstSeenAt, occurredAt, ...held } = payment();
    expect(depositState(payment())).toEqual({
      id: depositId(place),
      version: 3,
      status: "settled",
      tokenAddress: held.tokenAddress,
      payer: "0xPayer",
      sourceTransaction: place.transactionHash,
      amount,
      chainId,
      destinationAddress,
      firstSeenAt,
      occurredAt,
    });
  });
});
