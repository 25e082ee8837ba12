import { describe, expect, test } from "@jest/globals";
import { getChainSource } from "@payment-links/chains";
import { Decimal, createDeterministicId } from "@payment-links/contracts";
import { samplePaymentReport } from "../testing/samples.ts";
import {
  type EvaluationContext,
  type Payment,
  type PaymentReport,
  evaluatePaymentReport,
} from "./payment.ts";

const firstSeenAt = new Date("2026-11-21T10:00:00.000Z");
const knownLinkContext: EvaluationContext = {
  now: firstSeenAt,
  isLinkKnown: true,
  tokenDecimals: 6,
};
const unknownLinkContext: EvaluationContext = { ...knownLinkContext, isLinkKnown: false };
const laterContext: EvaluationContext = {
  ...knownLinkContext,
  now: new Date("2026-11-21T11:00:00.000Z"),
};

const processingReport = samplePaymentReport({
  status: "processing",
  amount: new Decimal("10"),
  sourceTransaction: null,
  occurredAt: new Date("2026-11-21T09:57:00.000Z"),
});
const settledReport: PaymentReport = {
  ...processingReport,
  status: "settled",
  amount: new Decimal("9.5"),
  destinationAddress: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  sourceTransaction: `0x${"cd".repeat(32)}`,
  occurredAt: new Date("2026-11-21T09:58:00.000Z"),
};
const failedReport: PaymentReport = { ...settledReport, status: "failed" };

const id = createDeterministicId("tx", [
  "provider:acme",
  processingReport.sourceId,
  processingReport.paymentLinkId,
]);

const recordFirst = (report: PaymentReport, context = knownLinkContext): Payment => {
  const result = evaluatePaymentReport(undefined, report, context);
  if (result.outcome !== "first") throw new Error(`unexpected outcome: ${result.outcome}`);
  return result.payment;
};

/** Applies reports in order, as the store would, each at its own time. */
const applyAll = (reports: readonly PaymentReport[], context = knownLinkContext) => {
  let payment: Payment | undefined;
  let publishedCount = 0;
  let conflictCount = 0;
  for (const [index, report] of reports.entries()) {
    const result = evaluatePaymentReport(payment, report, {
      ...context,
      now: new Date(firstSeenAt.getTime() + index),
    });
    if (result.outcome === "too_fine") continue;
    if (result.outcome !== "repeated") publishedCount += 1;
    if (result.isConflicting) conflictCount += 1;
    payment = result.payment;
  }
  return { payment, publishedCount, conflictCount };
};

/** Returns every sequence of up to `lengthMax` of the given items, with repeats. */
const sequences = <Item>(items: readonly Item[], lengthMax: number): Item[][] => {
  const allSequences: Item[][] = [];
  let currentSequences: Item[][] = [[]];
  for (let length = 1; length <= lengthMax; length += 1) {
    currentSequences = currentSequences.flatMap((sequence) =>
      items.map((item) => [...sequence, item]),
    );
    allSequences.push(...currentSequences);
  }
  return allSequences;
};

describe("evaluatePaymentReport", () => {
  test("derives a payment's id only from its source, its source id and its link (rule API-24)", () => {
    expect(recordFirst(settledReport).id).toBe(recordFirst(processingReport, laterContext).id);
    for (const difference of [
      { source: "evm:1" },
      { sourceId: "2" },
      { paymentLinkId: "plink_2" },
    ]) {
      expect(recordFirst({ ...processingReport, ...difference }).id).not.toBe(id);
    }
  });

  test.each(["processing", "settled", "failed"] as const)(
    "creates version 1 from a first report, even one that is already %s",
    (status) => {
      const report = { ...settledReport, status };
      expect(recordFirst(report)).toEqual({ ...report, id, version: 1, firstSeenAt });
    },
  );

  test.each([settledReport, failedReport])(
    "takes everything about the money from the final report (rule NOTICE-4)",
    (finalReport) => {
      const movedResult = evaluatePaymentReport(
        recordFirst(processingReport),
        finalReport,
        laterContext,
      );
      expect(movedResult).toEqual({
        outcome: "moved",
        isConflicting: false,
        payment: { ...finalReport, id, version: 2, firstSeenAt },
      });
    },
  );

  test("reaches the same state in every order and with every repeat (rule NOTICE-4)", () => {
    for (const finalReport of [settledReport, failedReport]) {
      for (const reports of sequences([processingReport, finalReport], 6)) {
        const { payment, publishedCount, conflictCount } = applyAll(reports);
        const isFinal = reports.includes(finalReport);
        const startedProcessing = reports[0] === processingReport;
        expect(payment).toEqual({
          ...(isFinal ? finalReport : processingReport),
          id,
          firstSeenAt,
          version: isFinal && startedProcessing ? 2 : 1,
        });
        expect(publishedCount).toBe(payment?.version);
        expect(conflictCount).toBe(0);
      }
    }
  });

  test("reaches the same state without a version in every order while the payment is deferred", () => {
    for (const reports of sequences([processingReport, settledReport], 6)) {
      const { payment } = applyAll(reports, unknownLinkContext);
      const expectedReport = reports.includes(settledReport) ? settledReport : processingReport;
      expect(payment).toEqual({ ...expectedReport, id, firstSeenAt, version: 0 });
    }
  });

  test("never changes a final state or the first report's link, whatever contradicts them (rules STATE-6 and NOTICE-4)", () => {
    const otherLinkReport = { ...settledReport, paymentLinkId: "plink_other" };
    const largerReport = { ...settledReport, amount: new Decimal("1000") };
    for (const reports of sequences(
      [processingReport, settledReport, failedReport, largerReport, otherLinkReport],
      5,
    )) {
      const { payment } = applyAll(reports);
      const firstFinalReport = reports.find((report) => report.status !== "processing");
      expect(payment).toMatchObject({
        ...(firstFinalReport ?? processingReport),
        paymentLinkId: reports[0]?.paymentLinkId,
      });
    }
  });

  test("creates a single version for a payment that was deferred as processing and settles with its link", () => {
    const deferredPayment = recordFirst(processingReport, unknownLinkContext);
    const movedResult = evaluatePaymentReport(deferredPayment, settledReport, {
      ...laterContext,
      isLinkKnown: true,
    });
    expect(movedResult).toMatchObject({
      outcome: "moved",
      payment: { version: 1, status: "settled" },
    });
  });

  test.each<[string, PaymentReport, PaymentReport, boolean]>([
    ["a duplicate", settledReport, { ...settledReport, amount: new Decimal("9.50") }, false],
    ["a late processing report", settledReport, processingReport, false],
    [
      "a late processing report for another link",
      settledReport,
      { ...processingReport, paymentLinkId: "plink_x" },
      true,
    ],
    ["failed after settled", settledReport, failedReport, true],
    ["settled after failed", failedReport, settledReport, true],
    ["another amount", settledReport, { ...settledReport, amount: new Decimal("9.6") }, true],
    ["another destination", settledReport, { ...settledReport, destinationAddress: "0x1" }, true],
    [
      "another source transaction",
      settledReport,
      { ...settledReport, sourceTransaction: null },
      true,
    ],
    ["another time", settledReport, { ...settledReport, occurredAt: new Date(0) }, true],
    ["another token", settledReport, { ...settledReport, tokenAddress: "0x1" }, true],
    ["another chain", settledReport, { ...settledReport, chainId: "1" }, true],
    ["another link", settledReport, { ...settledReport, paymentLinkId: "plink_x" }, true],
    [
      "another amount while processing",
      processingReport,
      { ...processingReport, amount: new Decimal("11") },
      true,
    ],
  ])(
    "ignores %s, and reports a conflict only if it is one",
    (_, storedReport, newReport, isConflicting) => {
      const payment = recordFirst(storedReport);
      expect(evaluatePaymentReport(payment, newReport, laterContext)).toEqual({
        outcome: "repeated",
        payment,
        isConflicting,
      });
    },
  );

  test.each([
    ["link", { paymentLinkId: "plink_x" }],
    ["token", { tokenAddress: "0x1" }],
    ["chain", { chainId: "1" }],
  ])("applies a final report with another %s and flags a conflict", (_what, difference) => {
    const movedResult = evaluatePaymentReport(
      recordFirst(processingReport),
      { ...settledReport, ...difference },
      laterContext,
    );
    expect(movedResult).toMatchObject({
      outcome: "moved",
      isConflicting: true,
      payment: { ...settledReport, ...difference, paymentLinkId: processingReport.paymentLinkId },
    });
  });

  test("keeps the credit of a payment orphaned after it settled, and flags it until it is back", () => {
    const flaggedResult = evaluatePaymentReport(
      recordFirst(settledReport),
      { ...settledReport, isOrphaned: true },
      laterContext,
    );
    expect(flaggedResult).toMatchObject({
      outcome: "moved",
      isConflicting: false,
      payment: { ...settledReport, version: 2, isOrphaned: true },
    });
    if (flaggedResult.outcome !== "moved") throw new Error("the payment did not move");
    const repeatedResult = evaluatePaymentReport(
      flaggedResult.payment,
      { ...settledReport, isOrphaned: true },
      laterContext,
    );
    expect(repeatedResult).toMatchObject({ outcome: "repeated" });
    expect(evaluatePaymentReport(flaggedResult.payment, settledReport, laterContext)).toMatchObject(
      { outcome: "repeated" },
    );
    const restoredResult = evaluatePaymentReport(
      flaggedResult.payment,
      { ...settledReport, isOrphaned: false },
      laterContext,
    );
    expect(restoredResult).toMatchObject({
      outcome: "moved",
      payment: { version: 3, isOrphaned: false },
    });
  });

  test("keeps the stored id, because earlier releases used random ids", () => {
    const storedPayment = { ...recordFirst(processingReport), id: "tx_drawn" };
    expect(evaluatePaymentReport(storedPayment, settledReport, laterContext)).toMatchObject({
      payment: { id: "tx_drawn" },
    });
  });

  test("creates no version for an orphaned flag or a block change while the payment is deferred", () => {
    const orphanedReport = { ...settledReport, isOrphaned: true };
    const flaggedResult = evaluatePaymentReport(
      recordFirst(settledReport, unknownLinkContext),
      orphanedReport,
      unknownLinkContext,
    );
    expect(flaggedResult).toMatchObject({
      outcome: "moved",
      payment: { version: 0, isOrphaned: true },
    });
    const mempoolReport = { ...processingReport, blockNumber: null };
    const publishingContext = { ...unknownLinkContext, shouldPublishBlockChanges: true };
    const placedResult = evaluatePaymentReport(
      recordFirst(mempoolReport, publishingContext),
      { ...mempoolReport, blockNumber: 7 },
      publishingContext,
    );
    expect(placedResult).toMatchObject({
      outcome: "moved",
      payment: { version: 0, blockNumber: 7 },
    });
  });

  test("flags only settled payments as orphaned", () => {
    for (const storedReport of [processingReport, failedReport]) {
      const flaggedResult = evaluatePaymentReport(
        recordFirst(storedReport),
        { ...storedReport, isOrphaned: true },
        laterContext,
      );
      expect(flaggedResult).toMatchObject({ outcome: "repeated" });
    }
  });

  describe("an amount with more decimals than the token", () => {
    const tooFineReport = { ...settledReport, amount: new Decimal("1.0000001") };
    const exactReport = { ...settledReport, amount: new Decimal("1.000001") };

    test("is rejected if the link is known, and accepted with one decimal less", () => {
      expect(evaluatePaymentReport(undefined, tooFineReport, knownLinkContext)).toEqual({
        outcome: "too_fine",
      });
      expect(evaluatePaymentReport(undefined, exactReport, knownLinkContext)).toMatchObject({
        outcome: "first",
      });
      expect(
        evaluatePaymentReport(recordFirst(processingReport), tooFineReport, laterContext),
      ).toEqual({ outcome: "too_fine" });
    });

    test("is accepted if the link or the token is unknown", () => {
      expect(evaluatePaymentReport(undefined, tooFineReport, unknownLinkContext)).toMatchObject({
        outcome: "first",
      });
      const unknownTokenContext = { ...knownLinkContext, tokenDecimals: undefined };
      expect(evaluatePaymentReport(undefined, tooFineReport, unknownTokenContext)).toMatchObject({
        outcome: "first",
      });
    });

    test("is accepted as a repeat after the link of the deferred payment became known", () => {
      const deferredPayment = recordFirst(tooFineReport, unknownLinkContext);
      const repeatedResult = evaluatePaymentReport(deferredPayment, tooFineReport, laterContext);
      expect(repeatedResult).toEqual({
        outcome: "repeated",
        payment: deferredPayment,
        isConflicting: false,
      });
    });
  });

  test("updates the block without a new version, and only while the payment is processing", () => {
    const seenReport = { ...processingReport, blockNumber: 10, isOrphaned: false };
    const goneResult = evaluatePaymentReport(
      recordFirst(seenReport),
      { ...seenReport, blockNumber: null, isOrphaned: true },
      laterContext,
    );
    expect(goneResult).toMatchObject({
      outcome: "placed",
      payment: { version: 1, status: "processing", blockNumber: null, isOrphaned: false },
    });
    const reminedReport = { ...seenReport, blockNumber: 11 };
    const backResult = evaluatePaymentReport(
      recordFirst({ ...seenReport, blockNumber: null }),
      reminedReport,
      laterContext,
    );
    expect(backResult).toMatchObject({
      outcome: "placed",
      payment: { version: 1, blockNumber: 11 },
    });
    expect(evaluatePaymentReport(recordFirst(seenReport), seenReport, laterContext).outcome).toBe(
      "repeated",
    );
    expect(evaluatePaymentReport(recordFirst(failedReport), seenReport, laterContext).outcome).toBe(
      "repeated",
    );
  });

  describe("a payment that a chain's watcher reported as failed", () => {
    const source = getChainSource(processingReport.chainId);
    const failedPayment = recordFirst({ ...failedReport, source, blockNumber: null });
    const reminedReport = { ...processingReport, source, blockNumber: 12, isOrphaned: false };
    const finalReport = { ...settledReport, source, blockNumber: 12, isOrphaned: false };

    test("is processing again once a block holds it, and is applied once it settles (rule STATE-6)", () => {
      const reopenedResult = evaluatePaymentReport(failedPayment, reminedReport, laterContext);
      expect(reopenedResult).toMatchObject({
        outcome: "placed",
        payment: { status: "processing", version: 1, blockNumber: 12 },
      });
      for (const payment of [
        failedPayment,
        "payment" in reopenedResult ? reopenedResult.payment : failedPayment,
      ]) {
        expect(evaluatePaymentReport(payment, finalReport, laterContext)).toMatchObject({
          outcome: "moved",
          isConflicting: false,
          payment: { status: "settled", version: 2, amount: settledReport.amount },
        });
      }
    });

    test("stays failed after a report without a block, and after a provider's notice (rule NOTICE-4)", () => {
      for (const orphanedReport of [{ ...reminedReport, blockNumber: null, isOrphaned: true }]) {
        expect(evaluatePaymentReport(failedPayment, orphanedReport, laterContext).outcome).toBe(
          "repeated",
        );
      }
      const providerPayment = recordFirst(failedReport);
      expect(evaluatePaymentReport(providerPayment, settledReport, laterContext).outcome).toBe(
        "repeated",
      );
    });
  });

  test("flags a payment that was orphaned after it settled until it is seen again", () => {
    const seenReport = { ...processingReport, blockNumber: 10, isOrphaned: false };
    const settledPayment = recordFirst({ ...settledReport, blockNumber: 10, isOrphaned: false });
    const goneResult = evaluatePaymentReport(
      settledPayment,
      { ...seenReport, blockNumber: null, isOrphaned: true },
      laterContext,
    );
    if (goneResult.outcome !== "moved")
      throw new Error(`unexpected outcome: ${goneResult.outcome}`);
    expect(goneResult.payment).toMatchObject({ status: "settled", version: 2, isOrphaned: true });
    const restoredResult = evaluatePaymentReport(
      goneResult.payment,
      { ...seenReport, blockNumber: 12 },
      laterContext,
    );
    expect(restoredResult).toMatchObject({
      outcome: "moved",
      payment: { status: "settled", version: 3, isOrphaned: false },
    });
  });
});

describe("block changes of a processing payment (rule EVENT-9)", () => {
  const mempoolReport = { ...processingReport, blockNumber: null, isOrphaned: false };
  const minedReport = { ...processingReport, blockNumber: 7, isOrphaned: false };
  const orphanedReport = { ...processingReport, blockNumber: null, isOrphaned: true };
  const blockChanges: [string, PaymentReport, PaymentReport][] = [
    ["it is included in a block", mempoolReport, minedReport],
    ["it moves to another block", minedReport, { ...minedReport, blockNumber: 8 }],
    ["it is orphaned by a reorg", minedReport, orphanedReport],
    ["it is dropped from the mempool", mempoolReport, orphanedReport],
    ["it returns to the mempool", orphanedReport, mempoolReport],
  ];

  test.each(blockChanges)("are published if requested: %s", (_, previousReport, nextReport) => {
    const publishingContext = { ...knownLinkContext, shouldPublishBlockChanges: true };
    const storedPayment = recordFirst(previousReport, publishingContext);
    expect(evaluatePaymentReport(storedPayment, nextReport, publishingContext)).toEqual({
      outcome: "moved",
      isConflicting: false,
      payment: {
        ...storedPayment,
        version: 2,
        blockNumber: nextReport.blockNumber,
        isOrphaned: nextReport.isOrphaned,
      },
    });
    expect(evaluatePaymentReport(storedPayment, previousReport, publishingContext).outcome).toBe(
      "repeated",
    );
  });

  test.each(blockChanges)("are not published otherwise: %s", (_, previousReport, nextReport) => {
    const { outcome } = evaluatePaymentReport(
      recordFirst(previousReport),
      nextReport,
      knownLinkContext,
    );
    expect(["placed", "repeated"]).toContain(outcome);
  });

  test("have no effect once the payment is final", () => {
    const publishingContext = { ...knownLinkContext, shouldPublishBlockChanges: true };
    for (const finalReport of [settledReport, failedReport]) {
      expect(
        evaluatePaymentReport(
          recordFirst(finalReport, publishingContext),
          mempoolReport,
          publishingContext,
        ).outcome,
      ).toBe("repeated");
    }
  });
});
