import {
  type SettlementState,
  chainSource,
  fitsDecimals,
  idOfNames,
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
export type Sighting = Omit<Payment, "id" | "version" | "firstSeenAt">;

/** What surrounds a sighting when it is judged; the caller brings the clock. */
export type Circumstances = {
  now: Date;
  /** Whether the payment's link has been heard of; before that nobody is told of the payment. */
  isLinkKnown: boolean;
  /** The decimals of the sighting's token; undefined where the catalogue does not know it. */
  tokenDecimals: number | undefined;
  /**
   * Whether others are told when a payment that is processing stands elsewhere, or nowhere any more: where
   * payments are told before a block holds them.
   */
  isPlaceTold?: boolean;
};

/**
 * What a sighting does to a payment: `first` and `moved` come with the payment as it stands after
 * it; `placed` changes where it stands, which nobody is told; `repeated` and `too_fine` change
 * nothing. `isConflicting` says that it contradicts what is stored.
 */
export type Judgement =
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
export const judgeSighting = (
  before: Payment | undefined,
  sighting: Sighting,
  { now, isLinkKnown, tokenDecimals, isPlaceTold = false }: Circumstances,
): Judgement => {
  if (before !== undefined && isFlagMoved(before, sighting)) {
    const { isOrphaned } = sighting;
    const version = isLinkKnown ? before.version + 1 : 0;
    const payment = { ...before, version, isOrphaned };
    return { outcome: "moved", payment, isConflicting: false };
  }
  if (before !== undefined && isPlaceTold && isDisplaced(before, sighting)) {
    const { blockNumber, isOrphaned } = sighting;
    const version = isLinkKnown ? before.version + 1 : 0;
    const payment = { ...before, version, blockNumber, isOrphaned, ...witnessOf(before, sighting) };
    return { outcome: "moved", payment, isConflicting: false };
  }
  if (before !== undefined && (isReplaced(before, sighting) || isReopened(before, sighting))) {
    const { blockNumber } = sighting;
    const status = "processing" as const;
    const payment = { ...before, status, blockNumber, ...witnessOf(before, sighting) };
    return { outcome: "placed", payment, isConflicting: false };
  }
  if (before !== undefined && !isMove(before, sighting)) {
    return { outcome: "repeated", payment: before, isConflicting: contradicts(before, sighting) };
  }
  const isJudged = isLinkKnown && tokenDecimals !== undefined;
  if (isJudged && !fitsDecimals(sighting.amount, tokenDecimals)) return { outcome: "too_fine" };
  const payment: Payment = {
    ...sighting,
    id: before?.id ?? idOf(sighting),
    version: isLinkKnown ? (before?.version ?? 0) + 1 : 0,
    paymentLinkId: before?.paymentLinkId ?? sighting.paymentLinkId,
    firstSeenAt: before?.firstSeenAt ?? now,
    ...witnessOf(before, sighting),
  };
  return before === undefined
    ? { outcome: "first", payment, isConflicting: false }
    : { outcome: "moved", payment, isConflicting: contradicts(before, sighting) };
};

/**
 * A payment's id follows from its names, so that whoever has lost the payment and finds it again tells
 * the same id. Anybody may ask for a payment by its id; the link's keeps it from being guessed out of
 * what a chain shows to all.
 */
const idOf = ({ source, sourceId, paymentLinkId }: Sighting): string =>
  idOfNames("tx", [source, sourceId, paymentLinkId]);

/** Whether a sighting changed what others are told of a payment. */
export const isNews = (
  judgement: Judgement,
): judgement is Judgement & { outcome: "first" | "moved" } =>
  judgement.outcome === "first" || judgement.outcome === "moved";

const events = {
  processing: settlementProcessing,
  settled: settlementSettled,
  failed: settlementFailed,
};

/** The event that tells a payment's state. */
export const eventOf = (payment: Payment) => events[payment.status];

const isFlagMoved = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === "settled" &&
  sighting.isOrphaned !== undefined &&
  sighting.isOrphaned !== (payment.isOrphaned ?? false);

const isReplaced = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === "processing" &&
  sighting.status === "processing" &&
  (payment.blockNumber !== sighting.blockNumber ||
    (payment.witnessedAt === undefined && sighting.witnessedAt !== undefined));

/** The first moment at which a quorum had seen the transaction, wherever it stands now. */
const witnessOf = (
  before: Payment | undefined,
  { witnessedAt }: Sighting,
): Pick<Payment, "witnessedAt"> => {
  const first = before?.witnessedAt ?? witnessedAt;
  return first === undefined ? {} : { witnessedAt: first };
};

/** A failure on chain rests on what nodes did not show. A block that holds the payment refutes it. */
const isReopened = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === "failed" &&
  isOnChain(sighting) &&
  sighting.status === "processing" &&
  sighting.blockNumber !== null;

const isCorrected = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === "failed" && isOnChain(sighting) && sighting.status === "settled";

/** Whether a sighting ends a payment, or corrects its end. */
const isMove = (payment: Payment, sighting: Sighting): boolean =>
  (payment.status === "processing" && sighting.status !== "processing") ||
  isCorrected(payment, sighting);

/** Whether a chain's own watcher reports the payment, and not a provider's notice. */
const isOnChain = ({ chainId, source }: Sighting): boolean => source === chainSource(chainId);

const isDisplaced = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === "processing" &&
  sighting.status === "processing" &&
  (payment.blockNumber !== sighting.blockNumber ||
    (payment.isOrphaned ?? false) !== (sighting.isOrphaned ?? false));

/**
 * A payment keeps its link and token from sighting to sighting; the amount, the destination and the
 * payer's transaction may become known only with the final one. Two final ones must agree in all.
 */
const contradicts = (payment: Payment, sighting: Sighting): boolean => {
  const isSamePayment =
    payment.paymentLinkId === sighting.paymentLinkId &&
    payment.chainId === sighting.chainId &&
    payment.tokenAddress === sighting.tokenAddress;
  const isStep =
    (payment.status === "processing") !== (sighting.status === "processing") ||
    isCorrected(payment, sighting);
  return !isSamePayment || (!isStep && !isSameTruth(payment, sighting));
};

const isSameTruth = (payment: Payment, sighting: Sighting): boolean =>
  payment.status === sighting.status &&
  payment.amount.equals(sighting.amount) &&
  payment.destinationAddress === sighting.destinationAddress &&
  payment.sourceTransaction === sighting.sourceTransaction &&
  payment.occurredAt.getTime() === sighting.occurredAt.getTime();
