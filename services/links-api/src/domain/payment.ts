import { getChainSource, isSameAddress } from "@payment-links/chains";
import {
  type CatalogueToken,
  type LinkTransaction,
  type PaymentStatus,
  type SettlementState,
  fitsDecimals,
  type unappliedReasons,
  type Decimal,
} from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** Returns whether the listener of a payment's chain observed it. */
export const isObserved = ({ chainId, source }: Pick<Payment, "chainId" | "source">): boolean =>
  source === getChainSource(chainId);

/** Why a settled payment is not applied. */
export type UnappliedReason = (typeof unappliedReasons)[number];

/**
 * A stored payment: the state that settlement-listener reported, and the result of its evaluation
 * in this service.
 */
export type Payment = {
  id: string;
  linkId: string;
  version: number;
  source: string;
  sourceId: string;
  status: PaymentStatus;
  isApplied: boolean;
  reason: UnappliedReason | null;
  /** The id of the payment that was the first report of the same transfer (rule STATE-14). */
  duplicateOf: string | null;
  /**
   * Whether the payment is orphaned. A payment that was orphaned after settling keeps its credit
   * (rule STATE-10).
   */
  isOrphaned: boolean;
  amount: Decimal;
  tokenAddress: string;
  chainId: string;
  destinationAddress: string;
  /**
   * The sender that the token's transfer reports. Null if the chain reports none, for a provider's
   * notice, and for payments from before this field existed.
   */
  payer: string | null;
  sourceTransaction: string | null;
  occurredAt: Date;
  firstSeenAt: Date;
  appliedAt: Date | null;
  /**
   * When it was published that the payment is not applied (rule HOOK-21). Null if it never was.
   * Once set, it does not change.
   */
  unappliedAt: Date | null;
  /**
   * When this service stored that the payment settled or failed. Null before that, and for payments
   * from before this field existed.
   */
  endedAt: Date | null;
  /**
   * When the payment was last reported as orphaned. Null if it never was, and for payments from
   * before this field existed.
   */
  orphanedAt: Date | null;
  /**
   * When an orphaned payment was reported as back on its chain or as failed. Null if the payment is
   * orphaned now or has never been orphaned.
   */
  returnedAt: Date | null;
  /** When the last change of `isOrphaned` was published; null if it never changed. */
  orphanChangePublishedAt: Date | null;
  /** The block that contained the payment when it was reported. Null for a provider's notice. */
  blockNumber: number | null;
};

/** The source of all payments that were simulated in test mode. */
export const simulationSource = "simulation";

/** Returns whether a payment was simulated in test mode, so that no transaction exists. */
export const isSimulated = ({ source }: Pick<Payment, "source">): boolean =>
  source === simulationSource;

/**
 * Returns why a settled payment is not applied to its link. Returns undefined if it is applied
 * (rules STATE-7, STATE-8).
 */
export const findUnappliedReason = (
  link: Link,
  token: CatalogueToken,
  settlement: Pick<
    SettlementState,
    "chainId" | "tokenAddress" | "destinationAddress" | "amount" | "occurredAt"
  >,
): UnappliedReason | undefined => {
  const { chainType } = token.chain;
  const isExpectedToken =
    settlement.chainId === link.chainId &&
    isSameAddress(chainType, settlement.tokenAddress, link.tokenAddress);
  if (!isExpectedToken) return "wrong_token";
  if (!isSameAddress(chainType, settlement.destinationAddress, link.destinationAddress)) {
    return "wrong_destination";
  }
  if (!fitsDecimals(settlement.amount, token.decimals)) return "wrong_amount";
  if (link.status === "completed") return "completed";
  if (link.expiresAt !== null && settlement.occurredAt >= link.expiresAt) return "expired";
  return link.deactivatedAt === null ? undefined : "inactive";
};

/**
 * Credits an applied payment to its link. The version increases by one for the payment's own event,
 * and by one more if the payment completes the link (rule STATE-2). If the payment does not
 * complete the link, the status does not change.
 */
export const creditPayment = (
  link: Link,
  settlement: Pick<SettlementState, "id" | "amount">,
): { link: Link; isCompleted: boolean } => {
  const receivedAmount = link.receivedAmount.plus(settlement.amount);
  const currentUsage = link.currentUsage + 1;
  const isCompleted =
    receivedAmount.greaterThanOrEqualTo(link.toAmount) ||
    (link.maxUsage !== null && currentUsage >= link.maxUsage);
  return {
    isCompleted,
    link: {
      ...link,
      receivedAmount,
      currentUsage,
      status: isCompleted ? "completed" : link.status,
      version: link.version + (isCompleted ? 2 : 1),
      lastTransactionId: settlement.id,
    },
  };
};

/**
 * The result of evaluating a settled payment. `reason` says why the payment is not applied, and is
 * undefined if it is applied.
 */
export type Verdict = { reason: UnappliedReason | undefined; duplicateOf?: string };

/** Returns a settled payment after it was evaluated again. */
export const applyVerdict = (payment: Payment, verdict: Verdict, now: Date): Payment => ({
  ...payment,
  ...toVerdictFields(verdict, payment, now),
});

/**
 * Returns the fields that depend on the verdict. `verdict` is undefined until the payment settles.
 * A further report of a transfer is not published as unapplied, because the transfer may be applied
 * as another payment.
 */
const toVerdictFields = (
  verdict: Verdict | undefined,
  storedPayment: Pick<Payment, "unappliedAt"> | undefined,
  now: Date,
): Pick<Payment, "isApplied" | "reason" | "duplicateOf" | "appliedAt" | "unappliedAt"> => {
  const isApplied = verdict !== undefined && verdict.reason === undefined;
  const isUnapplied = verdict?.reason !== undefined && verdict.duplicateOf === undefined;
  return {
    isApplied,
    reason: verdict?.reason ?? null,
    duplicateOf: verdict?.duplicateOf ?? null,
    appliedAt: isApplied ? now : null,
    unappliedAt: storedPayment?.unappliedAt ?? (isUnapplied ? now : null),
  };
};

/**
 * Builds the stored payment from a settlement. `verdict` is undefined until the payment settles,
 * and `storedPayment` is the payment's previous state.
 */
export const buildPayment = (
  settlement: SettlementState,
  {
    storedPayment,
    now,
    publishedAt,
    verdict,
  }: {
    storedPayment: Payment | undefined;
    verdict: Verdict | undefined;
    publishedAt: Date;
    now: Date;
  },
): Payment => ({
  id: settlement.id,
  linkId: settlement.paymentLinkId,
  version: settlement.version,
  source: settlement.source,
  sourceId: settlement.sourceId,
  status: settlement.status,
  amount: settlement.amount,
  tokenAddress: settlement.tokenAddress,
  chainId: settlement.chainId,
  destinationAddress: settlement.destinationAddress,
  payer: settlement.payer ?? null,
  sourceTransaction: settlement.sourceTransaction,
  occurredAt: settlement.occurredAt,
  firstSeenAt: settlement.firstSeenAt,
  endedAt: settlement.status === "processing" ? null : now,
  blockNumber: settlement.blockNumber ?? null,
  ...toVerdictFields(verdict, storedPayment, now),
  ...getOrphanFields(settlement, storedPayment, { publishedAt, now }),
});

/**
 * Returns the orphan fields of a payment. If the payment was orphaned before it settled or failed,
 * and is back on its chain now, the record of this is kept (rule CALLER-26). The return is recorded
 * 1 ms before `now`, because the payment can settle or fail at the same time. A recorded return
 * that is not before that time means that the payment returned after settling.
 */
const getOrphanFields = (
  { isOrphaned = false }: SettlementState,
  storedPayment: Payment | undefined,
  { now, publishedAt }: { now: Date; publishedAt: Date },
): Pick<Payment, "isOrphaned" | "orphanedAt" | "returnedAt" | "orphanChangePublishedAt"> => {
  const {
    orphanedAt = null,
    returnedAt = null,
    isOrphaned: wasOrphaned = false,
  } = storedPayment ?? {};
  const orphanChangePublishedAt =
    isOrphaned === wasOrphaned ? (storedPayment?.orphanChangePublishedAt ?? null) : publishedAt;
  if (isOrphaned) {
    return {
      isOrphaned,
      orphanedAt: wasOrphaned ? orphanedAt : now,
      returnedAt: null,
      orphanChangePublishedAt,
    };
  }
  const justBefore = new Date(now.getTime() - 1);
  return {
    isOrphaned,
    orphanedAt,
    returnedAt: wasOrphaned ? justBefore : returnedAt,
    orphanChangePublishedAt,
  };
};

/**
 * Returns a link after it was published that one of its payments is not applied. Only the version
 * changes, because every event has its own.
 */
export const addUnappliedEvent = (link: Link): Link => ({ ...link, version: link.version + 1 });

/** Returns a payment in the form that a link's events contain (rule HOOK-9). */
export const toLinkTransaction = (payment: Payment): LinkTransaction => ({
  id: payment.id,
  status: payment.status,
  amount: payment.amount,
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  sourceTransaction: payment.sourceTransaction,
  dateCreated: payment.firstSeenAt,
});
