import { describe, expect, test } from "@jest/globals";
import { Decimal, type SettlementState, linkTexts, openCatalogue } from "@payment-links/contracts";
import { sampleAccount, sampleSettlement, start } from "../testing/samples.ts";
import { type Link, openLink, readyAccount } from "./link.ts";
import { isOld, takeSettlement } from "./take-settlement.ts";

const owner = readyAccount(sampleAccount(), openCatalogue());

const opened: Link = {
  ...openLink(
    { toAmount: new Decimal("25"), ...linkTexts({}), maxUsage: null, expirationDate: null },
    owner,
    { id: "plink_1", paymentReference: "ab".repeat(16), now: start },
  ),
  destinationAddress: owner.wallet.walletAddress,
};
const settlement = sampleSettlement(opened.id);
const told = (more: Partial<SettlementState>): SettlementState => ({ ...settlement, ...more });

/** Takes what is told one after the other, each at its minute; answers the payment and the link. */
const takeAll = (...states: readonly SettlementState[]) => {
  let link = opened;
  let known: Parameters<typeof takeSettlement>[1]["known"];
  let creditedCount = 0;
  let ignoredCount = 0;
  for (const [minute, state] of states.entries()) {
    const now = new Date(start.getTime() + minute * 60_000);
    const [taken] = takeSettlement(state, {
      link,
      known,
      reports: [],
      tokenOf: () => owner.token,
      now,
    });
    if (taken === undefined) ignoredCount += 1;
    known = taken?.payment ?? known;
    link = taken?.credited?.link ?? link;
    creditedCount += taken?.credited === undefined ? 0 : 1;
  }
  return { payment: known, link, creditedCount, ignoredCount };
};

const processing = told({ status: "processing", amount: new Decimal("1") });
const settled = told({ version: 2 });
const failed = told({ version: 2, status: "failed" });

describe("a payment's steps", () => {
  test("credit its link once it settles, by what is told then", () => {
    const { payment, ...taken } = takeAll(processing, settled);
    expect(payment).toMatchObject({ status: "settled", isApplied: true, amount: settled.amount });
    expect(taken).toMatchObject({ creditedCount: 1, ignoredCount: 0 });
    expect(taken.link).toMatchObject({ version: 2, currentUsage: 1, status: "active" });
    expect(taken.link.receivedAmount.toFixed()).toBe("10");
  });

  test.each([["processing"], ["failed"]] as const)("credit nothing while it is %s", (status) => {
    const { creditedCount, link, payment } = takeAll(told({ status }));
    expect([creditedCount, link]).toEqual([0, opened]);
    expect(payment).toMatchObject({ status, isApplied: false, reason: null });
  });

  test("credit nothing where it does not count, and say why", () => {
    const { creditedCount, payment } = takeAll(told({ chainId: "1" }));
    expect(creditedCount).toBe(0);
    expect(payment).toMatchObject({ isApplied: false, reason: "wrong_token", appliedAt: null });
  });

  test("are taken once, and never an older one after a newer", () => {
    expect(takeAll(settled, settled)).toMatchObject({ creditedCount: 1, ignoredCount: 1 });
    expect(takeAll(settled, processing)).toMatchObject({ creditedCount: 1, ignoredCount: 1 });
    expect(takeAll(told({ version: 2, status: "processing" }), processing).ignoredCount).toBe(1);
  });

  test.each([
    ["settled", { ...settled, version: 1 }],
    ["failed", { ...failed, version: 1 }],
  ] as const)(
    "go on under a lower version, as of a restored listener: %s (rule EVENT-3)",
    (status, step) => {
      const { payment } = takeAll(told({ version: 5, status: "processing" }), step);
      expect(payment).toMatchObject({ status, version: 5 });
    },
  );

  test("end with settled for ever, whatever is told then (rule STATE-6)", () => {
    for (const status of ["processing", "settled", "failed"] as const) {
      const more = told({ version: 3, status, amount: new Decimal("7") });
      const { creditedCount, payment } = takeAll(processing, settled, more);
      const endedAt = new Date(start.getTime() + 60_000);
      const kept = { status: "settled", version: 3, amount: settled.amount, endedAt };
      expect(payment).toMatchObject(kept);
      expect(creditedCount).toBe(1);
    }
  });

  test.each([1, 2, 3])(
    "credit the link once if a failed payment is reported as settled later, under version %i (rule STATE-6)",
    (version) => {
      const corrected = { ...settled, version };
      for (const between of [[], [told({ version: 2, status: "processing" })], [failed]]) {
        const { creditedCount, link, payment } = takeAll(
          processing,
          failed,
          ...between,
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

describe("a settled payment's flag", () => {
  const flag = (...flags: readonly (boolean | undefined)[]) => {
    const steps = flags.map((isOrphaned, at) => told({ version: 3 + at, isOrphaned }));
    return takeAll(processing, settled, ...steps);
  };
  const minute = (count: number) => new Date(start.getTime() + count * 60_000);

  test("is set and taken off with the times at which that was heard, and its credit stays", () => {
    const gone = flag(true);
    expect(gone.payment).toMatchObject({
      isOrphaned: true,
      orphanedAt: minute(2),
      returnedAt: null,
    });
    expect(gone.link.receivedAmount.toFixed()).toBe("10");
    expect(gone.creditedCount).toBe(1);
    const back = { isOrphaned: false, orphanedAt: minute(2), returnedAt: minute(3) };
    expect(flag(true, false).payment).toMatchObject(back);
    const again = { isOrphaned: true, orphanedAt: minute(4), returnedAt: null };
    expect(flag(true, false, true).payment).toMatchObject(again);
  });

  test("keeps its time when it is told again, and stays where nothing is said of it", () => {
    for (const flags of [
      [true, true],
      [true, undefined],
    ]) {
      const { payment } = flag(...flags);
      expect(payment).toMatchObject({ isOrphaned: true, orphanedAt: minute(2), version: 4 });
    }
  });

  test("is none of what was told while it was processing", () => {
    const { payment } = takeAll(
      processing,
      settled,
      told({ version: 3, status: "processing", isOrphaned: true }),
    );
    expect(payment).toMatchObject({ isOrphaned: false, orphanedAt: null, version: 3 });
  });

  test("is news once under any version, and not of one that came back", () => {
    const gone = told({ version: 1, isOrphaned: true });
    const isOldAfter = (...states: readonly SettlementState[]) => {
      const { payment } = takeAll(...states);
      return payment && isOld(payment, gone);
    };
    expect(isOldAfter(processing, settled)).toBe(false);
    const flagged = told({ version: 3, isOrphaned: true });
    expect(isOldAfter(processing, settled, flagged)).toBe(true);
    const back = told({ version: 4, isOrphaned: false });
    expect(isOldAfter(processing, settled, flagged, back)).toBe(true);
    expect(isOldAfter(processing, failed)).toBe(false);
    const { payment } = takeAll(processing, settled);
    expect(payment && isOld(payment, { ...gone, status: "processing" })).toBe(true);
  });
});
