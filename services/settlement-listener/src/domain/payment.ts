import {
  type SettlementState,
  getChainSource,
  fitsDecimals,
  createDeterministicId,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";

/** A payment as it stands, which its row holds: the state that others are told. */
export type Payment = SettlementState & {
  /**
   * Where it stands on its chain while it is processing; null where a reorg took it away, and of a
   * provider's payment. It is told with what else is news; a new place alone is none.
   */
  blockNumber: number | null;
  /** Who sent a deposit. */
  payer?: string | undefined;
};

/** What a source says of a payment at one moment; `source` and `sourceId` name it for ever. */
export type PaymentReport = Omit<Payment, "id" | "version" | "firstSeenAt">;

/** What surrounds a sighting when it is judged; the caller brings the clock. */
export type EvaluationContext = {
  now: Date;
  /** Whether the payment's link has been heard of; before that nobody is told of the payment. */
  isLinkKnown: boolean;
  /** The decimals of the sighting's token; undefined where the catalogue does not know it. */
  tokenDecimals: number | undefined;
  /**
   * Whether others are told when a payment that is processing stands elsewhere, or nowhere any more: where
   * payments are told before a block holds them.
   */
  shouldPublishBlockChanges?: boolean;
};

/**
 * What a sighting does to a payment: `first` and `moved` come with the payment as it stands after
 * it; `placed` changes where it stands, which nobody is told; `repeated` and `too_fine` change
 * nothing. `isConflicting` says that it contradicts what is stored.
 */
export type PaymentReportResult =
  | { outcome: "first" | "moved" | "placed" | "repeated"; payment: Payment; isConflicting: boolean }
  | { outcome: "too_fine" };

/**
 * Judges a sighting (rules STATE-6 and NOTICE-4). `processing` moves to `settled` or `failed`, both
 * final; all else changes nothing, so that the order of arrival does not matter. A chain may correct
 * `failed`: if a block holds the payment, it is processed again, and it counts once it settles. The final sighting
 * is the truth about the money; the link, the id and the first instant stay those of the first
 * sighting. A payment that its chain takes away after it settled stays settled and is flagged (rule
 * STATE-10). Digits finer than the token's are refused only where they would change the payment of
 * a known link (rule NOTICE-6).
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
 * A payment's id follows from its names, so that whoever has lost the payment and finds it again tells
 * the same id. Anybody may ask for a payment by its id; the link's keeps it from being guessed out of
 * what a chain shows to all.
 */
const derivePaymentId = ({ source, sourceId, paymentLinkId }: PaymentReport): string =>
  createDeterministicId("tx", [source, sourceId, paymentLinkId]);

/** Whether a sighting changed what others are told of a payment. */
export const isPublishable = (
  result: PaymentReportResult,
): result is PaymentReportResult & { outcome: "first" | "moved" } =>
  result.outcome === "first" || result.outcome === "moved";

const eventTypes = {
  processing: settlementProcessing,
  settled: settlementSettled,
  failed: settlementFailed,
};

/** The event that tells a payment's state. */
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

/** The first moment at which a quorum had seen the transaction, wherever it stands now. */
const pickEarliestWitnessedAt = (
  storedPayment: Payment | undefined,
  { witnessedAt }: PaymentReport,
): Pick<Payment, "witnessedAt"> => {
  const earliestWitnessedAt = storedPayment?.witnessedAt ?? witnessedAt;
  return earliestWitnessedAt === undefined ? {} : { witnessedAt: earliestWitnessedAt };
};

/** A failure on chain rests on what nodes did not show. A block that holds the payment refutes it. */
const isReopening = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "failed" &&
  isFromChainWatcher(report) &&
  report.status === "processing" &&
  report.blockNumber !== null;

const isCorrection = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "failed" && isFromChainWatcher(report) && report.status === "settled";

/** Whether a sighting ends a payment, or corrects its end. */
const isFinalTransition = (payment: Payment, report: PaymentReport): boolean =>
  (payment.status === "processing" && report.status !== "processing") ||
  isCorrection(payment, report);

/** Whether a chain's own watcher reports the payment, and not a provider's notice. */
const isFromChainWatcher = ({ chainId, source }: PaymentReport): boolean =>
  source === getChainSource(chainId);

const isPublishedBlockChanged = (payment: Payment, report: PaymentReport): boolean =>
  payment.status === "processing" &&
  report.status === "processing" &&
  (payment.blockNumber !== report.blockNumber ||
    (payment.isOrphaned ?? false) !== (report.isOrphaned ?? false));

/**
 * A payment keeps its link and token from sighting to sighting; the amount, the destination and the
 * payer's transaction may become known only with the final one. Two final ones must agree in all.
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
