import {
  type CatalogueToken,
  type LinkTransaction,
  type PaymentStatus,
  type SettlementState,
  fitsDecimals,
  isSameAddress,
  type unappliedReasons,
  type Decimal,
} from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** Why a payment that settled does not count. */
export type UnappliedReason = (typeof unappliedReasons)[number];

/** A payment as it is kept: what settlement-listener saw, and what became of it here. */
export type Payment = {
  id: string;
  linkId: string;
  version: number;
  source: string;
  sourceId: string;
  status: PaymentStatus;
  isApplied: boolean;
  reason: UnappliedReason | null;
  /** The payment that reported the same transfer first (rule STATE-14). */
  duplicateOf: string | null;
  /** Its chain has taken it away: after it had settled it keeps its credit (rule STATE-10). */
  isOrphaned: boolean;
  amount: Decimal;
  tokenAddress: string;
  chainId: string;
  destinationAddress: string;
  sourceTransaction: string | null;
  occurredAt: Date;
  firstSeenAt: Date;
  appliedAt: Date | null;
  /** When it settled or failed here; null also if that was before it was written down. */
  endedAt: Date | null;
  /**
   * When it was heard that its chain took it away, the last time; null also if that was before it was
   * written down.
   */
  orphanedAt: Date | null;
  /** When it was heard that its chain has it again, or that it has failed; null if it never went, or is away. */
  returnedAt: Date | null;
  /** When the last change of `isOrphaned` was published; null if it never changed. */
  orphanChangePublishedAt: Date | null;
  /** The block in which it stood when it was told; null of a provider's. */
  blockNumber: number | null;
};

/**
 * Judges a settled payment against its link: undefined if it counts, otherwise why not (rules
 * STATE-7, STATE-8).
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
 * Credits a payment that counts. The version grows by one for the payment's own event, and by one
 * more if the payment completes the link (rule STATE-2). A link past its expiry that is not
 * completed keeps its status.
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

/** Why a settled payment is not applied; undefined if it is. */
export type Verdict = { reason: UnappliedReason | undefined; duplicateOf?: string };

/** A settled payment after it was judged again. */
export const applyVerdict = (payment: Payment, verdict: Verdict, now: Date): Payment => ({
  ...payment,
  ...toVerdictFields(verdict, now),
});

/** The fields of a payment that its verdict decides; `verdict` is undefined while it has not settled. */
const toVerdictFields = (
  verdict: Verdict | undefined,
  now: Date,
): Pick<Payment, "isApplied" | "reason" | "duplicateOf" | "appliedAt"> => {
  const isApplied = verdict !== undefined && verdict.reason === undefined;
  return {
    isApplied,
    reason: verdict?.reason ?? null,
    duplicateOf: verdict?.duplicateOf ?? null,
    appliedAt: isApplied ? now : null,
  };
};

/**
 * What becomes of a settlement here: `verdict` is undefined while it has not settled, `known` what the
 * payment was while it was processing.
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
  sourceTransaction: settlement.sourceTransaction,
  occurredAt: settlement.occurredAt,
  firstSeenAt: settlement.firstSeenAt,
  endedAt: settlement.status === "processing" ? null : now,
  blockNumber: settlement.blockNumber ?? null,
  ...toVerdictFields(verdict, now),
  ...getOrphanFields(settlement, storedPayment, { publishedAt, now }),
});

/**
 * That a chain took a payment away before it ended stays in its story once it is there again (rule CALLER-26).
 * It is there a moment before, as its end may be heard of at the same instant: what comes back after that
 * came back settled.
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

/** A payment as a link's event tells it (rule HOOK-9). */
export const toLinkTransaction = (payment: Payment): LinkTransaction => ({
  id: payment.id,
  status: payment.status,
  amount: payment.amount,
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  sourceTransaction: payment.sourceTransaction,
  dateCreated: payment.firstSeenAt,
});
