import type { CatalogueToken, SettlementState } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import {
  type Payment,
  type Verdict,
  creditPayment,
  findUnappliedReason,
  buildPayment,
  applyVerdict,
} from "./payment.ts";
import {
  type TransferReport,
  findSameTransfer,
  isProviderNotice,
  listReportsToReevaluate,
} from "./same-transfer.ts";
import { isPublishedLongAfter } from "./restored-source.ts";

/** The effect of a settlement on a payment and on its link. */
export type SettlementResult = {
  /** The payment with its evaluation. */
  payment: Payment;
  /** The link with the payment's credit; undefined if this settlement does not credit it. */
  credit: { link: Link; isCompleted: boolean } | undefined;
};

type EvaluationContext = {
  link: Link;
  /** All payments of the link's owner in the same transaction. */
  reports: readonly Payment[];
  getToken: (tokenId: string) => CatalogueToken;
  /** When the settlement's event was published. */
  publishedAt: Date;
  now: Date;
};

/**
 * Decides what a settlement changes: its payment first, then earlier reports of the same
 * transaction that must be evaluated again because of it (rule STATE-14). Returns an empty list if
 * the settlement contains nothing new.
 *
 * A payment is evaluated when it settles, even if it failed before (rule STATE-6). After that it
 * stays settled. A later version can report that its chain orphaned the payment or has it again.
 * This is shown to the owner and does not change the link (rule STATE-10).
 */
export const evaluateSettlement = (
  settlement: SettlementState,
  context: EvaluationContext & { storedPayment: Payment | undefined },
): readonly SettlementResult[] => {
  const { link, publishedAt, storedPayment, now } = context;
  if (storedPayment !== undefined && isStale(storedPayment, settlement, publishedAt)) return [];
  const version = Math.max(settlement.version, storedPayment?.version ?? 0);
  const normalizedSettlement = {
    ...settlement,
    version,
    occurredAt: getPaymentTime(settlement, storedPayment),
  };
  if (
    storedPayment !== undefined &&
    storedPayment.status !== "processing" &&
    !isSettledAfterFailure(storedPayment, normalizedSettlement)
  ) {
    const payment = {
      ...storedPayment,
      version: normalizedSettlement.version,
      ...getOrphanChange(storedPayment, normalizedSettlement, context),
    };
    return [{ payment, credit: undefined }];
  }
  if (normalizedSettlement.status !== "settled") {
    return [
      {
        payment: buildPayment(normalizedSettlement, {
          storedPayment,
          verdict: undefined,
          publishedAt,
          now,
        }),
        credit: undefined,
      },
    ];
  }
  const verdict = evaluateReport({ ...normalizedSettlement, linkId: link.id }, context);
  const result = applyCredit(
    link,
    buildPayment(normalizedSettlement, { storedPayment, verdict, publishedAt, now }),
  );
  return [result, ...reevaluateReports(result, context)];
};

const applyCredit = (link: Link, payment: Payment): SettlementResult => ({
  payment,
  credit: payment.isApplied ? creditPayment(link, payment) : undefined,
});

/**
 * Returns when a payment was made: the earlier of its block's time and the time when a quorum first
 * saw it (rule STATE-15). For records from before `witnessedAt` existed, the payment's first step
 * supplies that time. A provider's notice states the time itself.
 */
const getPaymentTime = (
  { occurredAt, source, witnessedAt }: SettlementState,
  storedPayment: Payment | undefined,
): Date => {
  if (isProviderNotice(source)) return occurredAt;
  const seenAt = witnessedAt ?? storedPayment?.occurredAt ?? occurredAt;
  return seenAt < occurredAt ? seenAt : occurredAt;
};

/**
 * Evaluates a settled payment, unless another report of the same transfer was evaluated first (rule
 * STATE-14). An unapplied earlier report gives way to one that can be applied.
 */
const evaluateReport = (
  report: TransferReport & Pick<Payment, "occurredAt">,
  { link, reports, getToken }: EvaluationContext,
): Verdict => {
  const token = getToken(link.tokenId);
  const reason = findUnappliedReason(link, token, report);
  const sameTransfer = findSameTransfer(report, reports, token.chain.chainType);
  if (sameTransfer === undefined || (reason === undefined && !sameTransfer.original.isApplied))
    return { reason };
  return {
    reason: sameTransfer.isCertain ? "duplicate" : "conflict",
    duplicateOf: sameTransfer.original.id,
  };
};

/** Evaluates earlier reports again, each against the state that the previous one left. */
const reevaluateReports = (
  { credit, payment: evaluatedPayment }: SettlementResult,
  context: EvaluationContext,
): SettlementResult[] => {
  const reports = new Map(
    [...context.reports, evaluatedPayment].map((report) => [report.id, report]),
  );
  let link = credit?.link ?? context.link;
  const results: SettlementResult[] = [];
  for (const report of listReportsToReevaluate(evaluatedPayment, context.reports)) {
    const verdict = evaluateReport(report, { ...context, link, reports: [...reports.values()] });
    // A report that does not duplicate the applied payment keeps its reason.
    if (evaluatedPayment.isApplied && verdict.duplicateOf !== evaluatedPayment.id) continue;
    const result = applyCredit(link, applyVerdict(report, verdict, context.now));
    reports.set(report.id, result.payment);
    link = result.credit?.link ?? link;
    results.push(result);
  }
  return results;
};

/**
 * Returns the changes to a settled payment's orphaned flag. Reports for the processing status
 * describe an earlier time, so they are ignored. A settlement without the flag leaves it unchanged.
 */
const getOrphanChange = (
  storedPayment: Payment,
  settlement: SettlementState,
  { now, publishedAt }: Pick<EvaluationContext, "now" | "publishedAt">,
): Partial<
  Pick<Payment, "isOrphaned" | "orphanedAt" | "returnedAt" | "orphanChangePublishedAt">
> => {
  if (storedPayment.status !== "settled" || settlement.status !== "settled") return {};
  if (settlement.isOrphaned === undefined) return {};
  if (settlement.isOrphaned === storedPayment.isOrphaned) return {};
  return {
    orphanChangePublishedAt: publishedAt,
    ...(settlement.isOrphaned
      ? { isOrphaned: true, orphanedAt: now, returnedAt: null }
      : { isOrphaned: false, returnedAt: now }),
  };
};

/** Returns whether a settlement, published at `publishedAt`, says nothing new about a payment. */
export const isStale = (
  storedPayment: Payment,
  settlement: SettlementState,
  publishedAt: Date,
): boolean =>
  storedPayment.version >= settlement.version &&
  !isLaterStatus(storedPayment, settlement) &&
  !isOrphanedDifferently(storedPayment, settlement, publishedAt);

/**
 * Returns whether a listener that was restored from a backup reports a payment as orphaned, or not, unlike
 * before the restore (rule EVENT-7).
 */
const isOrphanedDifferently = (
  { isOrphaned, orphanChangePublishedAt, status }: Payment,
  settlement: SettlementState,
  publishedAt: Date,
): boolean =>
  settlement.status === status &&
  settlement.isOrphaned === !isOrphaned &&
  isPublishedLongAfter(publishedAt, orphanChangePublishedAt);

/**
 * A payment's status only moves forward (rule STATE-6), so a later status is accepted under any
 * version: a listener restored from a dump finds the payment again and restarts its versions. An
 * orphaned flag is accepted this way only once: for a payment that has returned, it may be an older
 * report.
 */
const isLaterStatus = (
  storedPayment: Payment,
  { status, isOrphaned = false }: SettlementState,
): boolean => {
  if (storedPayment.status === "processing") return status !== "processing";
  if (storedPayment.status === "failed") return status === "settled";
  if (storedPayment.status !== "settled" || status !== "settled") return false;
  return isOrphaned && !storedPayment.isOrphaned && !hasReturnedAfterSettling(storedPayment);
};

/** A failed payment is evaluated if its chain reports it as settled later (rule STATE-6). */
const isSettledAfterFailure = (storedPayment: Payment, { status }: SettlementState): boolean =>
  storedPayment.status === "failed" && status === "settled";

/** A return before settling says nothing about an orphaned flag after settling. */
const hasReturnedAfterSettling = ({ endedAt, returnedAt }: Payment): boolean =>
  returnedAt !== null && (endedAt === null || returnedAt >= endedAt);
