import { getChainSource } from "@payment-links/chains";
import {
  type SettlementState,
  fitsDecimals,
  createDeterministicId,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";

/** The current state of a payment, as stored in its row and published in its events. */
export type Payment = SettlementState & {
  /**
   * The block that contains the payment while it is processing. Null if a reorg orphaned the
   * payment, or if a payment provider reported it. On most chains, no event is published when only
   * the block changes.
   */
  blockNumber: number | null;
};

/** A source's report about a payment. `source` and `sourceId` identify the payment permanently. */
export type PaymentReport = Omit<Payment, "id" | "version" | "firstSeenAt">;

/** What `evaluatePaymentReport` needs besides the payment and the report. */
export type EvaluationContext = {
  now: Date;
  /** Whether the payment's link has been received. Until then, the payment is not published. */
  isLinkKnown: boolean;
  /** The decimals of the report's token. Undefined if the token is not in the catalogue. */
  tokenDecimals: number | undefined;
  /**
   * Whether to publish a change of the block of a processing payment. True on chains that publish
   * payments before they are in a block.
   */
  shouldPublishBlockChanges?: boolean;
};

/**
 * The effect of a report on a payment:
 * - `first`: the payment is new.
 * - `moved`: its published state changed.
 * - `placed`: it changed, but nothing is published.
 * - `repeated`: nothing changed.
 * - `too_fine`: the amount has more decimals than the token, so the report was rejected.
 * `payment` is the payment after the report. `isConflicting` is true if the report contradicts the
 * stored payment.
 */
export type PaymentReportResult =
  | { outcome: "first" | "moved" | "placed" | "repeated"; payment: Payment; isConflicting: boolean }
  | { outcome: "too_fine" };

/**
 * Evaluates a report (rules STATE-6 and NOTICE-4).
 *
 * A payment moves from `processing` to `settled` or `failed`, which are both final. Other reports
 * change nothing, so the order of arrival does not matter. The final report determines everything
 * about the money. The link, the id and the first-seen time come from the first report.
 *
 * Exceptions:
 * - A chain can correct `failed`: if a block contains the payment, it becomes `processing` again
 *   and can settle.
 * - A settled payment that is orphaned stays settled and is flagged (rule STATE-10).
 * - An amount with more decimals than the token has is rejected only if the link is known and the
 *   report would change the payment (rule NOTICE-6).
 */
export const evaluatePaymentReport = (
  storedPayment: Payment | undefined,
  report: PaymentReport,
  { now, isLinkKnown, tokenDecimals, shouldPublishBlockChanges = false }: EvaluationContext,
): PaymentReportResult => {
  if (storedPayment !== undefined && isOrphanedFlagChanged(storedPayment, report)) {
    const { isOrphaned } = report;
    const version = isLinkKnown ? storedPayment.version + 1 : 0;
    const payment = { ...storedPayment, version, isOrphaned };
    return { outcome: "moved", payment, isConflicting: false };
  }
  if (
    storedPayment !== undefined &&
    shouldPublishBlockChanges &&
    isPublishedBlockChanged(storedPayment, report)
  ) {
    const { blockNumber, isOrphaned } = report;
    const version = isLinkKnown ? storedPayment.version + 1 : 0;
    const payment = {
      ...storedPayment,
      version,
      blockNumber,
      isOrphaned,
      ...pickEarliestWitnessedAt(storedPayment, report),
    };
    return { outcome: "moved", payment, isConflicting: false };
  }
  if (
    storedPayment !== undefined &&
    (isBlockChanged(storedPayment, report) || isReopening(storedPayment, report))
  ) {
    const { blockNumber } = report;
    const status = "processing" as const;
    const payment = {
      ...storedPayment,
      status,
      blockNumber,
      ...pickEarliestWitnessedAt(storedPayment, report),
    };
    return { outcome: "placed", payment, isConflicting: false };
  }
  if (storedPayment !== undefined && !isFinalTransition(storedPayment, report)) {
    return {
      outcome: "repeated",
      payment: storedPayment,
      isConflicting: contradictsPayment(storedPayment, report),
    };
  }
  const shouldCheckDecimals = isLinkKnown && tokenDecimals !== undefined;
  if (shouldCheckDecimals && !fitsDecimals(report.amount, tokenDecimals))
    return { outcome: "too_fine" };
  const payment: Payment = {
    ...report,
    id: storedPayment?.id ?? derivePaymentId(report),
    version: isLinkKnown ? (storedPayment?.version ?? 0) + 1 : 0,
    paymentLinkId: storedPayment?.paymentLinkId ?? report.paymentLinkId,
    firstSeenAt: storedPayment?.firstSeenAt ?? now,
    ...pickEarliestWitnessedAt(storedPayment, report),
  };
  return storedPayment === undefined
    ? { outcome: "first", payment, isConflicting: false }
    : { outcome: "moved", payment, isConflicting: contradictsPayment(storedPayment, report) };
};

/**
 * Derives a payment's id from its source, source id and link. If a listener loses a payment and
 * finds it again, it therefore publishes the same id. Anyone who has the id can read the payment,
 * so the derivation includes the link's id: without it, others could compute the id from public
 * chain data.
 */
const derivePaymentId = ({ source, sourceId, paymentLinkId }: PaymentReport): string =>
  createDeterministicId("tx", [source, sourceId, paymentLinkId]);

/** Returns whether the report changed the payment's published state. */
export const isPublishable = (
  result: PaymentReportResult,
): result is PaymentReportResult & { outcome: "first" | "moved" } =>
  result.outcome === "first" || result.outcome === "moved";

const eventTypes = {
  processing: settlementProcessing,
  settled: settlementSettled,
  failed: settlementFailed,
};

export const getEventType = (payment: Payment) => eventTypes[payment.status];

const isOrphanedFlagChanged = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "settled" &&
  report.isOrphaned !== undefined &&
  report.isOrphaned !== (payment.isOrphaned ?? false);

const isBlockChanged = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "processing" &&
  report.status === "processing" &&
  (payment.blockNumber !== report.blockNumber ||
    (payment.witnessedAt === undefined && report.witnessedAt !== undefined));

/**
 * Returns the first time at which a quorum had seen the transaction, in any block or unconfirmed.
 */
const pickEarliestWitnessedAt = (
  storedPayment: Payment | undefined,
  { witnessedAt }: PaymentReport,
): Pick<Payment, "witnessedAt"> => {
  const earliestWitnessedAt = storedPayment?.witnessedAt ?? witnessedAt;
  return earliestWitnessedAt === undefined ? {} : { witnessedAt: earliestWitnessedAt };
};

/**
 * Returns whether the report reopens a failed payment because a block contains it. A chain's
 * watcher reports `failed` when nodes do not have the transaction, so it can be wrong.
 */
const isReopening = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "failed" &&
  isFromChainWatcher(report) &&
  report.status === "processing" &&
  report.blockNumber !== null;

const isCorrection = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "failed" && isFromChainWatcher(report) && report.status === "settled";

/** Returns whether a report makes a payment final, or corrects its final status. */
const isFinalTransition = (payment: Payment, report: PaymentReport): boolean =>
  (payment.status === "processing" && report.status !== "processing") ||
  isCorrection(payment, report);

/** Returns whether the report comes from the chain's own watcher, not from a provider's notice. */
const isFromChainWatcher = ({ chainId, source }: PaymentReport): boolean =>
  source === getChainSource(chainId);

const isPublishedBlockChanged = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "processing" &&
  report.status === "processing" &&
  (payment.blockNumber !== report.blockNumber ||
    (payment.isOrphaned ?? false) !== (report.isOrphaned ?? false));

/**
 * Returns whether a report contradicts the stored payment. Link, chain and token must always match.
 * Amount, destination and source transaction can still change with the final report. Two final
 * reports must agree on everything.
 */
const contradictsPayment = (payment: Payment, report: PaymentReport): boolean => {
  const isSamePayment =
    payment.paymentLinkId === report.paymentLinkId &&
    payment.chainId === report.chainId &&
    payment.tokenAddress === report.tokenAddress;
  const isStatusTransition =
    (payment.status === "processing") !== (report.status === "processing") ||
    isCorrection(payment, report);
  return !isSamePayment || (!isStatusTransition && !hasSameDetails(payment, report));
};

const hasSameDetails = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === report.status &&
  payment.amount.equals(report.amount) &&
  payment.destinationAddress === report.destinationAddress &&
  payment.sourceTransaction === report.sourceTransaction &&
  payment.occurredAt.getTime() === report.occurredAt.getTime();
