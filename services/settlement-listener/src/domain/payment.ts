import {
  type SettlementState,
  getChainSource,
  fitsDecimals,
  createDeterministicId,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";

/** The current state of a payment, as stored in its row and published in its events. */
export type Payment = SettlementState & {
  /**
   * The block that holds the payment while it is processing. Null if a reorg orphaned it, or if a
   * provider reported it. A new block number is published with other changes, but is no reason to
   * publish by itself.
   */
  blockNumber: number | null;
  /** The sender of a deposit. */
  payer?: string | undefined;
};

/**
 * What a source reports about a payment. `source` and `sourceId` identify the payment permanently.
 */
export type PaymentReport = Omit<Payment, "id" | "version" | "firstSeenAt">;

/** The context for evaluating a report. The caller provides the clock. */
export type EvaluationContext = {
  now: Date;
  /** Whether the payment's link has been received. Until then, the payment is not published. */
  isLinkKnown: boolean;
  /** The decimals of the report's token. Undefined if the token is not in the catalogue. */
  tokenDecimals: number | undefined;
  /**
   * Whether a block change of a processing payment is published. True on chains where payments are
   * published before a block holds them.
   */
  shouldPublishBlockChanges?: boolean;
};

/**
 * The effect of a report on a payment. `first` and `moved` include the payment after the change.
 * `placed` changes its block without publishing it. `repeated` and `too_fine` change nothing.
 * `isConflicting` is true if the report contradicts the stored payment.
 */
export type PaymentReportResult =
  | { outcome: "first" | "moved" | "placed" | "repeated"; payment: Payment; isConflicting: boolean }
  | { outcome: "too_fine" };

/**
 * Evaluates a report (rules STATE-6 and NOTICE-4). A payment moves from `processing` to `settled`
 * or `failed`, which are both final. All other reports change nothing, so the order of arrival does
 * not matter. A chain may correct `failed`: if a block holds the payment, it becomes `processing`
 * again and is applied once it settles. The final report decides everything about the money. The
 * link, the id and the first-seen time come from the first report. A payment that is orphaned after
 * it settled stays settled and is flagged (rule STATE-10). Amounts with more decimals than the
 * token has are rejected only if they would change the payment of a known link (rule NOTICE-6).
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
 * Derives a payment's id from its source, source id and link. A listener that lost a payment and
 * finds it again therefore publishes the same id. Anyone with the id can read the payment. The
 * link's id prevents others from computing it from public chain data.
 */
const derivePaymentId = ({ source, sourceId, paymentLinkId }: PaymentReport): string =>
  createDeterministicId("tx", [source, sourceId, paymentLinkId]);

/** Returns whether a report changed the published state of a payment. */
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
 * Returns the earliest time at which a quorum had seen the transaction, whatever block holds it
 * now.
 */
const pickEarliestWitnessedAt = (
  storedPayment: Payment | undefined,
  { witnessedAt }: PaymentReport,
): Pick<Payment, "witnessedAt"> => {
  const earliestWitnessedAt = storedPayment?.witnessedAt ?? witnessedAt;
  return earliestWitnessedAt === undefined ? {} : { witnessedAt: earliestWitnessedAt };
};

/**
 * Returns whether a block that holds the payment refutes its failure. An on-chain failure only
 * means that nodes did not show the transaction.
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
 * Returns whether a report contradicts the payment. Link, chain and token never change. Amount,
 * destination and source transaction may become known only with the final report. Two final reports
 * must agree on everything.
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
