import type { CatalogueToken, SettlementState } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import {
  type Payment,
  type Verdict,
  addUnappliedEvent,
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

/** The effect of a settlement on one payment and on its link. */
export type SettlementResult = {
  /** The payment after its evaluation. */
  payment: Payment;
  /**
   * The link with the payment credited. Undefined if this settlement does not credit the payment.
   */
  credit: { link: Link; isCompleted: boolean } | undefined;
  /**
   * The link with the event that the payment is not applied (rule HOOK-21). Undefined if this
   * settlement does not publish that.
   */
  unapplied: { link: Link } | undefined;
};

/** Returns the link after a result, and undefined if the result does not change it. */
export const getChangedLink = ({
  credit,
  unapplied,
}: Pick<SettlementResult, "credit" | "unapplied">): Link | undefined =>
  credit?.link ?? unapplied?.link;

type EvaluationContext = {
  link: Link;
  /** All of the link owner's payments in the same transaction. */
  reports: readonly Payment[];
  getToken: (tokenId: string) => CatalogueToken;
  /** When the settlement's event was published. */
  publishedAt: Date;
  now: Date;
};

/**
 * Returns the changes that a settlement causes: first the change to its own payment, then the
 * changes to earlier reports of the same transaction that have to be evaluated again (rule
 * STATE-14). Returns an empty list if the settlement does not contain anything new.
 *
 * A payment is evaluated when it settles, even if it has failed before (rule STATE-6). After that
 * it stays settled. A later version can only report that the payment was orphaned or is back on its
 * chain. The owner sees this, but it does not change the link (rule STATE-10).
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
    return [{ payment, credit: undefined, unapplied: undefined }];
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
        unapplied: undefined,
      },
    ];
  }
  const verdict = evaluateReport({ ...normalizedSettlement, linkId: link.id }, context);
  const result = applyResult(
    link,
    buildPayment(normalizedSettlement, { storedPayment, verdict, publishedAt, now }),
    storedPayment,
  );
  return [result, ...reevaluateReports(result, context)];
};

const applyResult = (
  link: Link,
  payment: Payment,
  storedPayment: Payment | undefined,
): SettlementResult => {
  const wasPublished = (storedPayment?.unappliedAt ?? null) !== null;
  const isPublished = payment.unappliedAt !== null && !wasPublished;
  return {
    payment,
    credit: payment.isApplied ? creditPayment(link, payment) : undefined,
    unapplied: isPublished ? { link: addUnappliedEvent(link) } : undefined,
  };
};

/**
 * Returns the time of a payment: its block's time, or the time when a quorum first saw the payment
 * if that is earlier (rule STATE-15). Older records do not have `witnessedAt`, so the time of the
 * payment's first stored state is used instead. A provider's notice contains the payment's time.
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
 * Evaluates a settled payment. If another report of the same transfer was evaluated first, the
 * payment is a duplicate (rule STATE-14). An exception is an earlier report that was not applied:
 * it is superseded by a report that can be applied.
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

/** Evaluates earlier reports again, each based on the result of the previous one. */
const reevaluateReports = (
  evaluatedResult: SettlementResult,
  context: EvaluationContext,
): SettlementResult[] => {
  const { payment: evaluatedPayment } = evaluatedResult;
  const reports = new Map(
    [...context.reports, evaluatedPayment].map((report) => [report.id, report]),
  );
  let link = getChangedLink(evaluatedResult) ?? context.link;
  const results: SettlementResult[] = [];
  for (const report of listReportsToReevaluate(evaluatedPayment, context.reports)) {
    const verdict = evaluateReport(report, { ...context, link, reports: [...reports.values()] });
    // If a report does not duplicate the applied payment, its reason stays the same.
    if (evaluatedPayment.isApplied && verdict.duplicateOf !== evaluatedPayment.id) continue;
    const result = applyResult(link, applyVerdict(report, verdict, context.now), report);
    reports.set(report.id, result.payment);
    link = getChangedLink(result) ?? link;
    results.push(result);
  }
  return results;
};

/**
 * Returns the changes to a settled payment's orphaned flag. Updates with the status `processing`
 * describe an earlier time, so they are ignored. A settlement without the flag does not change it.
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

/**
 * Returns whether a settlement that was published at `publishedAt` does not contain anything new
 * about a payment.
 */
export const isStale = (
  storedPayment: Payment,
  settlement: SettlementState,
  publishedAt: Date,
): boolean =>
  storedPayment.version >= settlement.version &&
  !isLaterStatus(storedPayment, settlement) &&
  !isOrphanedDifferently(storedPayment, settlement, publishedAt);

/**
 * Returns whether a listener that was restored from a backup reports an orphaned flag that differs
 * from the stored one (rule EVENT-7).
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
 * Returns whether a settlement has a later status than the stored payment. A status only moves
 * forward (rule STATE-6), so such a settlement is accepted even if its version is lower: a listener
 * that was restored from a dump finds the payment again and restarts its versions. For a payment
 * that has returned to its chain after settling, an orphaned flag is not accepted this way, because
 * it can be an older update.
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

/** Returns whether a failed payment has settled after all. It is then evaluated (rule STATE-6). */
const isSettledAfterFailure = (storedPayment: Payment, { status }: SettlementState): boolean =>
  storedPayment.status === "failed" && status === "settled";

/**
 * Returns whether a payment returned to its chain after it had settled. A return before settling
 * does not say anything about a later orphaned flag.
 */
const hasReturnedAfterSettling = ({ endedAt, returnedAt }: Payment): boolean =>
  returnedAt !== null && (endedAt === null || returnedAt >= endedAt);

/** The maximum difference between the clocks of a service's processes (rule EVENT-7). */
const clockSkewMsMax = 60_000;

/**
 * Returns whether a state was published long after an earlier one. If the later state contradicts
 * the earlier one but does not have a higher version, the publishing service was restored from a
 * backup and has restarted its versions.
 */
export const isPublishedLongAfter = (publishedAt: Date, earlierPublishedAt: Date | null): boolean =>
  earlierPublishedAt !== null &&
  publishedAt.getTime() - earlierPublishedAt.getTime() > clockSkewMsMax;
