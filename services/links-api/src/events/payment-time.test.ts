import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { SettlementState } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import {
  sampleAccount,
  samplePaymentIdentity,
  sampleSettlement,
  testStartTime,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(createRig);
let keyHeaders: Record<string, string>;
let sessionHeaders: Record<string, string>;
beforeAll(() => {
  const account = sampleAccount();
  keyHeaders = rig.createKeyHeaders(account);
  sessionHeaders = rig.createSessionHeaders(account);
});

const atMinute = (count: number) => new Date(testStartTime.getTime() + count * 60_000);
/** The expiry of each test's link. */
const expiry = atMinute(15);

type SettlementStep = Partial<Omit<SettlementState, "amount">>;

/** Applies the steps in order to a payment of a new link, and returns its unapplied reason. */
const settleAndReadReason = async (
  steps: readonly SettlementStep[],
  source?: string,
): Promise<string | null> => {
  const id = await rig.createLink(keyHeaders, {
    toAmount: "10",
    expirationDate: expiry.toISOString(),
  });
  const transactionHash = `0x${randomBytes(32).toString("hex")}`;
  const { chainId } = usdcOnBase;
  const identity = samplePaymentIdentity({ chainId, transactionHash, linkId: id });
  for (const [index, step] of steps.entries()) {
    const version = index + 1;
    await rig.settle(
      sampleSettlement(id, {
        ...identity,
        version,
        ...step,
        ...(source === undefined ? {} : { source }),
      }),
    );
  }
  const { payments } = (
    await rig.call(`/console/api/payment-links/${id}`, { headers: sessionHeaders })
  ).json;
  return payments[0].reason;
};

describe("a payment on chain in a block after the expiry", () => {
  test("is applied if a quorum saw it in time (rule STATE-15)", async () => {
    const processingStep: SettlementStep = { status: "processing", occurredAt: atMinute(5) };
    const settledStep: SettlementStep = { occurredAt: atMinute(17), witnessedAt: atMinute(5) };
    expect(await settleAndReadReason([processingStep, settledStep])).toBeNull();
    expect(await settleAndReadReason([settledStep])).toBeNull();
  });

  test("is late if only one provider saw it in time", async () => {
    const processingStep: SettlementStep = { status: "processing", occurredAt: atMinute(5) };
    expect(
      await settleAndReadReason([
        processingStep,
        { occurredAt: atMinute(17), witnessedAt: atMinute(16) },
      ]),
    ).toBe("expired");
  });

  test("is late if a quorum saw it at the expiry or later", async () => {
    const lateStep: SettlementStep = { occurredAt: atMinute(17) };
    expect(await settleAndReadReason([{ ...lateStep, witnessedAt: expiry }])).toBe("expired");
    const justBeforeExpiry = new Date(expiry.getTime() - 1);
    expect(await settleAndReadReason([{ ...lateStep, witnessedAt: justBeforeExpiry }])).toBeNull();
  });

  test("uses the time of its first step if a record has no quorum time", async () => {
    const processingStep: SettlementStep = { status: "processing", occurredAt: atMinute(5) };
    expect(await settleAndReadReason([processingStep, { occurredAt: atMinute(17) }])).toBeNull();
  });
});

test("a payment in a block before the expiry is applied, whenever a quorum saw it", async () => {
  expect(
    await settleAndReadReason([{ occurredAt: atMinute(14), witnessedAt: atMinute(20) }]),
  ).toBeNull();
});

test("a provider's notice states the payment's time itself, in any order of arrival (rule NOTICE-4)", async () => {
  const processingStep: SettlementStep = { status: "processing", occurredAt: atMinute(5) };
  const lateStep: SettlementStep = { occurredAt: atMinute(17) };
  expect(await settleAndReadReason([processingStep, lateStep], "provider:acme")).toBe("expired");
  expect(await settleAndReadReason([lateStep, processingStep], "provider:acme")).toBe("expired");
});
