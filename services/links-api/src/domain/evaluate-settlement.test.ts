import { describe, expect, test } from "@jest/globals";
import {
  Decimal,
  type SettlementState,
  pickLinkTexts,
  loadCatalogue,
} from "@payment-links/contracts";
import { sampleAccount, sampleSettlement, testStartTime } from "../testing/samples.ts";
import { type Link, buildLink, requirePayableAccount } from "./link.ts";
import { isStale, evaluateSettlement, getChangedLink } from "./evaluate-settlement.ts";

const owner = requirePayableAccount(sampleAccount(), loadCatalogue(), "live");

const initialLink: Link = {
  ...buildLink(
    { toAmount: new Decimal("25"), ...pickLinkTexts({}), maxUsage: null, expirationDate: null },
    owner,
    { id: "plink_1", paymentReference: "ab".repeat(16), now: testStartTime },
  ),
  destinationAddress: owner.wallet.walletAddress,
};
const settlement = sampleSettlement(initialLink.id);
const withOverrides = (overrides: Partial<SettlementState>): SettlementState => ({
  ...settlement,
  ...overrides,
});

/**
 * Evaluates the states in order, one minute apart. Returns the payment and the link after the last
 * one.
 */
const evaluateAll = (...states: readonly SettlementState[]) => {
  let link = initialLink;
  let storedPayment: Parameters<typeof evaluateSettlement>[1]["storedPayment"];
  let creditedCount = 0;
  let unappliedCount = 0;
  let ignoredCount = 0;
  for (const [minuteIndex, state] of states.entries()) {
    const now = new Date(testStartTime.getTime() + minuteIndex * 60_000);
    const [result] = evaluateSettlement(state, {
      link,
      storedPayment,
      reports: [],
      getToken: () => owner.token,
      publishedAt: now,
      now,
    });
    if (result === undefined) ignoredCount += 1;
    storedPayment = result?.payment ?? storedPayment;
    link = (result && getChangedLink(result)) ?? link;
    unappliedCount += result?.unapplied === undefined ? 0 : 1;
    creditedCount += result?.credit === undefined ? 0 : 1;
  }
  return { payment: storedPayment, link, creditedCount, unappliedCount, ignoredCount };
};

const processing = withOverrides({ status: "processing", amount: new Decimal("1") });
const settled = withOverrides({ version: 2 });
const failed = withOverrides({ version: 2, status: "failed" });

describe("evaluateSettlement", () => {
  test("credits the link when the payment settles, with the values of the settlement", () => {
    const { payment, ...result } = evaluateAll(processing, settled);
    expect(payment).toMatchObject({ status: "settled", isApplied: true, amount: settled.amount });
    expect(result).toMatchObject({ creditedCount: 1, ignoredCount: 0 });
    expect(result.link).toMatchObject({ version: 2, currentUsage: 1, status: "active" });
    expect(result.link.receivedAmount.toFixed()).toBe("10");
  });

  test.each([["processing"], ["failed"]] as const)(
    "credits nothing while the payment is %s",
    (status) => {
      const { creditedCount, link, payment } = evaluateAll(withOverrides({ status }));
      expect([creditedCount, link]).toEqual([0, initialLink]);
      expect(payment).toMatchObject({ status, isApplied: false, reason: null });
    },
  );

  test("credits nothing for a payment that is not applied, and records the reason", () => {
    const { creditedCount, payment } = evaluateAll(withOverrides({ chainId: "1" }));
    expect(creditedCount).toBe(0);
    expect(payment).toMatchObject({ isApplied: false, reason: "wrong_token", appliedAt: null });
  });

  test("publishes a payment as unapplied when it settles, and never again (rule HOOK-21)", () => {
    const wrongToken = { chainId: "1" };
    const states = [
      withOverrides({ ...wrongToken, status: "processing" }),
      withOverrides({ ...wrongToken, status: "failed", version: 2 }),
      withOverrides({ ...wrongToken, version: 3 }),
      withOverrides({ ...wrongToken, version: 4, isOrphaned: true }),
      withOverrides({ ...wrongToken, version: 5, isOrphaned: false }),
    ];
    const countAfter = states.map(
      (_, index) => evaluateAll(...states.slice(0, index + 1)).unappliedCount,
    );
    expect(countAfter).toEqual([0, 0, 1, 1, 1]);
    const { link, payment } = evaluateAll(...states);
    expect(link).toEqual({ ...initialLink, version: 2 });
    expect(payment?.unappliedAt).toEqual(new Date(testStartTime.getTime() + 2 * 60_000));
    expect(evaluateAll(processing, settled).unappliedCount).toBe(0);
  });

  test("ignores duplicates and older versions", () => {
    expect(evaluateAll(settled, settled)).toMatchObject({ creditedCount: 1, ignoredCount: 1 });
    expect(evaluateAll(settled, processing)).toMatchObject({ creditedCount: 1, ignoredCount: 1 });
    expect(
      evaluateAll(withOverrides({ version: 2, status: "processing" }), processing).ignoredCount,
    ).toBe(1);
  });

  test.each([
    ["settled", { ...settled, version: 1 }],
    ["failed", { ...failed, version: 1 }],
  ] as const)(
    "accepts a later status under a lower version, as from a restored listener: %s (rule EVENT-3)",
    (status, nextState) => {
      const { payment } = evaluateAll(
        withOverrides({ version: 5, status: "processing" }),
        nextState,
      );
      expect(payment).toMatchObject({ status, version: 5 });
    },
  );

  test("keeps a payment settled whatever is reported later (rule STATE-6)", () => {
    for (const status of ["processing", "settled", "failed"] as const) {
      const laterUpdate = withOverrides({ version: 3, status, amount: new Decimal("7") });
      const { creditedCount, payment } = evaluateAll(processing, settled, laterUpdate);
      const endedAt = new Date(testStartTime.getTime() + 60_000);
      const expectedPayment = { status: "settled", version: 3, amount: settled.amount, endedAt };
      expect(payment).toMatchObject(expectedPayment);
      expect(creditedCount).toBe(1);
    }
  });

  test.each([1, 2, 3])(
    "credits the link once if a failed payment is reported as settled later, under version %i (rule STATE-6)",
    (version) => {
      const corrected = { ...settled, version };
      for (const intermediateStates of [
        [],
        [withOverrides({ version: 2, status: "processing" })],
        [failed],
      ]) {
        const { creditedCount, link, payment } = evaluateAll(
          processing,
          failed,
          ...intermediateStates,
          corrected,
          corrected,
        );
        expect(payment).toMatchObject({ status: "settled", isApplied: true, reason: null });
        expect(creditedCount).toBe(1);
        expect(link.receivedAmount.toFixed()).toBe("10");
      }
    },
  );
});

describe("the orphaned flag of a settled payment", () => {
  const evaluateFlags = (...flags: readonly (boolean | undefined)[]) => {
    const steps = flags.map((isOrphaned, index) =>
      withOverrides({ version: 3 + index, isOrphaned }),
    );
    return evaluateAll(processing, settled, ...steps);
  };
  const atMinute = (count: number) => new Date(testStartTime.getTime() + count * 60_000);

  test("is set and cleared with the time of each report, and the credit stays", () => {
    const orphaned = evaluateFlags(true);
    expect(orphaned.payment).toMatchObject({
      isOrphaned: true,
      orphanedAt: atMinute(2),
      returnedAt: null,
    });
    expect(orphaned.link.receivedAmount.toFixed()).toBe("10");
    expect(orphaned.creditedCount).toBe(1);
    const returned = { isOrphaned: false, orphanedAt: atMinute(2), returnedAt: atMinute(3) };
    expect(evaluateFlags(true, false).payment).toMatchObject(returned);
    const orphanedAgain = { isOrphaned: true, orphanedAt: atMinute(4), returnedAt: null };
    expect(evaluateFlags(true, false, true).payment).toMatchObject(orphanedAgain);
  });

  test("keeps its time when it is reported again, and stays if a report omits it", () => {
    for (const flags of [
      [true, true],
      [true, undefined],
    ]) {
      const { payment } = evaluateFlags(...flags);
      expect(payment).toMatchObject({ isOrphaned: true, orphanedAt: atMinute(2), version: 4 });
    }
  });

  test("is not set by a report for the processing status", () => {
    const { payment } = evaluateAll(
      processing,
      settled,
      withOverrides({ version: 3, status: "processing", isOrphaned: true }),
    );
    expect(payment).toMatchObject({ isOrphaned: false, orphanedAt: null, version: 3 });
  });

  test("is accepted once under any version, but not for a payment that has returned", () => {
    const orphaned = withOverrides({ version: 1, isOrphaned: true });
    const isStaleAfter = (...states: readonly SettlementState[]) => {
      const { payment } = evaluateAll(...states);
      return payment && isStale(payment, orphaned, testStartTime);
    };
    expect(isStaleAfter(processing, settled)).toBe(false);
    const orphanedUpdate = withOverrides({ version: 3, isOrphaned: true });
    expect(isStaleAfter(processing, settled, orphanedUpdate)).toBe(true);
    const returned = withOverrides({ version: 4, isOrphaned: false });
    expect(isStaleAfter(processing, settled, orphanedUpdate, returned)).toBe(true);
    expect(isStaleAfter(processing, failed)).toBe(false);
    const { payment } = evaluateAll(processing, settled);
    const orphanedProcessing = { ...orphaned, status: "processing" } as const;
    expect(payment && isStale(payment, orphanedProcessing, testStartTime)).toBe(true);
  });

  test("follows under any version what a restored listener publishes over a minute later (rule EVENT-7)", () => {
    const orphaned = withOverrides({ version: 3, isOrphaned: true });
    const repeated = withOverrides({ version: 2, isOrphaned: false });
    // Each state is published a minute after the previous one.
    expect(evaluateAll(processing, settled, orphaned, repeated).payment?.isOrphaned).toBe(true);
    const returned = evaluateAll(processing, settled, orphaned, repeated, repeated);
    expect(returned.payment).toMatchObject({ isOrphaned: false, version: 3 });
    expect(returned.creditedCount).toBe(1);
    const states = [processing, settled, orphaned, repeated, repeated] as const;
    expect(evaluateAll(...states, orphaned, orphaned).payment?.isOrphaned).toBe(true);
  });
});
