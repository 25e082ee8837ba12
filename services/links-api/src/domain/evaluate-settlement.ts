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

/** What a settlement makes of a payment and of its link. */
export type SettlementResult = {
  /** The payment, with what became of it here. */
  payment: Payment;
  /** The link with the payment's credit; undefined if this settlement does not give it one. */
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
 * Decides what a settlement changes: its payment first, then earlier reports of the same transaction that
 * are judged again because of it (rule STATE-14). Empty if it tells nothing new. A payment is judged
 * when it settles, also if it had failed before (rule STATE-6). Whatever is told after it has settled, it
 * stays so: a later version can say that its chain took it away, or has it again. The owner is told,
 * and the link stays as it is (rule STATE-10).
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
 * Returns when a payment was made: the earlier of its block's time and the moment at which a quorum had first
 * seen it (rule STATE-15). Records from before `witnessedAt` existed tell that moment by their first step.
 * A provider's notice states the time itself.
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
 * Judges a settled payment, unless another report of the same transfer was judged before (rule STATE-14).
 * A report that was not applied gives way to one that can be.
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

/** Judges earlier reports again, each by what the one before it left. */
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
    // What is no report of the payment that counts keeps its reason.
    if (evaluatedPayment.isApplied && verdict.duplicateOf !== evaluatedPayment.id) continue;
    const result = applyCredit(link, applyVerdict(report, verdict, context.now));
    reports.set(report.id, result.payment);
    link = result.credit?.link ?? link;
    results.push(result);
  }
  return results;
};

/**
 * What is told of a settled payment's place on its chain. What was told while it was processing speaks of
 * another time, and who says nothing of it leaves it.
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
 * A payment's steps go one way (rule STATE-6), so a later step is news under any version: a listener
 * that was restored from a dump knows the payment again, and counts its versions anew. That its chain
 * took it away is such a step once: of one that came back it may be what was told before.
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

/** A payment that failed counts if its chain shows it as settled later (rule STATE-6). */
const isSettledAfterFailure = (storedPayment: Payment, { status }: SettlementState): boolean =>
  storedPayment.status === "failed" && status === "settled";

/** What came back before it settled says nothing of that. */
const hasReturnedAfterSettling = ({ endedAt, returnedAt }: Payment): boolean =>
  returnedAt !== null && (endedAt === null || returnedAt >= endedAt);
