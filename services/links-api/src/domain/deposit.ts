import { isSameAddress } from "@payment-links/chains";
import {
  type CatalogueToken,
  type DepositState,
  type Mode,
  type SettlementState,
  type depositDecisions,
  type likelyLinkReasons,
  createDeterministicId,
  createApiError,
} from "@payment-links/contracts";
import { type Link, statusAt } from "./link.ts";
import type { Payment } from "./payment.ts";
import {
  type SettlementResult,
  evaluateSettlement,
  isPublishedLongAfter,
} from "./evaluate-settlement.ts";

/** The owner's decision about a deposit. */
export type DepositDecision = (typeof depositDecisions)[number];

/** The state of a deposit on its chain. */
export type ObservedDeposit = DepositState & {
  /**
   * When this service received the news that an orphaned deposit is back on its chain. Null if the
   * deposit is orphaned now or has never been orphaned.
   */
  returnedAt: Date | null;
  /**
   * When the last change to or from `orphaned` was published. Null if the deposit has never been
   * orphaned.
   */
  orphanChangePublishedAt: Date | null;
};

/** A deposit as one account sees it: its reported state, and the account's decision. */
export type Deposit = ObservedDeposit & {
  userId: string;
  mode: Mode;
  decision: DepositDecision;
  decidedAt: Date | null;
  linkId: string | null;
  paymentId: string | null;
};

const statusRanks: Record<DepositState["status"], number> = { seen: 0, settled: 1, orphaned: 2 };

/**
 * Returns a deposit after an update that was published at `publishedAt`. Returns the same object if
 * the update does not contain anything new.
 */
export const applyDepositState = <Observed extends ObservedDeposit>(
  observed: Observed,
  update: DepositState,
  { now, publishedAt }: { now: Date; publishedAt: Date },
): Observed => {
  const isOrphaned = update.status === "orphaned";
  const hasOrphanChange = isOrphaned !== (observed.status === "orphaned");
  const isNews =
    update.version > observed.version ||
    isLaterStatus(observed, update) ||
    // An orphan change that was published much later comes from a listener that was restored from a
    // backup (rule EVENT-7).
    (hasOrphanChange && isPublishedLongAfter(publishedAt, observed.orphanChangePublishedAt));
  if (!isNews) return observed;
  const returnedAt = hasOrphanChange ? now : observed.returnedAt;
  return {
    ...observed,
    ...update,
    version: Math.max(observed.version, update.version),
    returnedAt: isOrphaned ? null : returnedAt,
    orphanChangePublishedAt: hasOrphanChange ? publishedAt : observed.orphanChangePublishedAt,
  };
};

/**
 * Returns whether an update has a later status than the deposit. Such an update is accepted even if
 * its version is lower, because a listener that was restored from a dump restarts its versions. For
 * a deposit that has returned to its chain, `orphaned` is not accepted this way, because it can be
 * an older update.
 */
const isLaterStatus = (observed: ObservedDeposit, { status }: DepositState): boolean =>
  statusRanks[status] > statusRanks[observed.status] &&
  (status !== "orphaned" || observed.returnedAt === null);

/** The source of all payments created from assigned deposits. */
export const depositSource = "deposit";

/**
 * Builds the settlement for an assigned deposit. Its `source` and `sourceId` differ from those of
 * all payments on chain: the source is `deposit`, and the `sourceId` consists of the deposit and
 * the account. Its id cannot be guessed without knowing the link's id.
 */
export const createDepositSettlement = (
  deposit: DepositState & Pick<Deposit, "userId">,
  linkId: string,
): SettlementState => ({
  id: createDeterministicId("tx", ["deposit", deposit.id, linkId]),
  version: deposit.version,
  source: depositSource,
  sourceId: `${deposit.id}:${deposit.userId}`,
  paymentLinkId: linkId,
  status: "settled",
  amount: deposit.amount,
  tokenAddress: deposit.tokenAddress,
  chainId: deposit.chainId,
  destinationAddress: deposit.destinationAddress,
  ...(deposit.payer === null ? {} : { payer: deposit.payer }),
  sourceTransaction: deposit.sourceTransaction,
  occurredAt: deposit.occurredAt,
  firstSeenAt: deposit.firstSeenAt,
  isOrphaned: deposit.status === "orphaned",
});

/**
 * Evaluates the assignment of a deposit to a link. Returns the payment and the credited link.
 * Throws `ApiError` if the deposit cannot be assigned or if the link cannot accept it (rule
 * CALLER-29). `reports` contains all of the owner's payments in the same transaction.
 */
export const assignDeposit = (
  deposit: Deposit,
  context: {
    link: Link;
    reports: readonly Payment[];
    getToken: (tokenId: string) => CatalogueToken;
    now: Date;
  },
): {
  result: SettlementResult & { credit: NonNullable<SettlementResult["credit"]> };
  reevaluated: readonly SettlementResult[];
} => {
  const { link, now, getToken } = context;
  const token = getToken(link.tokenId);
  if (deposit.decision === "assigned") throw createApiError("DEPOSIT_ALREADY_ASSIGNED");
  if (deposit.status === "orphaned") throw createApiError("DEPOSIT_ORPHANED");
  if (deposit.status === "seen") throw createApiError("DEPOSIT_NOT_SETTLED");
  const matchesAddress = (a: string, b: string) => isSameAddress(token.chain.chainType, a, b);
  const isExpectedToken =
    deposit.chainId === link.chainId && matchesAddress(deposit.tokenAddress, link.tokenAddress);
  if (!isExpectedToken) throw createApiError("DEPOSIT_WRONG_TOKEN");
  if (!matchesAddress(deposit.destinationAddress, link.destinationAddress)) {
    throw createApiError("DEPOSIT_WRONG_DESTINATION");
  }
  if (statusAt(link, now) !== "active") throw createApiError("PAYMENT_LINK_NOT_ACTIVE");
  const settlement = createDepositSettlement(deposit, link.id);
  const [result, ...reevaluated] = evaluateSettlement(settlement, {
    ...context,
    storedPayment: undefined,
    publishedAt: now,
  });
  if (typeof result?.payment.duplicateOf === "string")
    throw createApiError("DEPOSIT_ALREADY_APPLIED");
  // By its time on the chain, the deposit was made after the link had ended.
  if (result?.credit === undefined) throw createApiError("PAYMENT_LINK_NOT_ACTIVE");
  return { result: { ...result, credit: result.credit }, reevaluated };
};

/**
 * Returns the latest time at which a deposit can have been made. Block times are whole seconds, so
 * a link can be created and paid within the second that the block reports.
 */
export const getLatestArrival = ({ occurredAt }: Pick<DepositState, "occurredAt">): Date =>
  new Date(Math.floor(occurredAt.getTime() / 1_000) * 1_000 + 999);

/** Why a link is a likely match. */
export type LikelyLinkReason = (typeof likelyLinkReasons)[number];

/** The fields of a link that determine how well it matches a deposit. */
export type LikelyLink = Pick<Link, "id" | "toAmount" | "receivedAmount" | "createdAt"> & {
  description: string | null;
  /** Whether another deposit from the same sender is already assigned to this link. */
  isOfSender: boolean;
};

const likelyLinksMax = 3;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the most likely links for a deposit, each with the reasons for the match. The best match
 * comes first. Equal matches are ordered from newest to oldest.
 */
export const rankLinks = (
  { amount, occurredAt }: Pick<Deposit, "amount" | "occurredAt">,
  links: readonly LikelyLink[],
): readonly (LikelyLink & { reasons: readonly LikelyLinkReason[] })[] =>
  links
    .map((link) => {
      const ageMs = occurredAt.getTime() - link.createdAt.getTime();
      const reasons: LikelyLinkReason[] = [
        ...(amount.equals(link.toAmount.minus(link.receivedAmount)) ? (["amount"] as const) : []),
        ...(link.isOfSender ? (["sender"] as const) : []),
        ...(ageMs >= 0 && ageMs <= dayMs ? (["time"] as const) : []),
      ];
      return { ...link, reasons };
    })
    .filter(({ reasons }) => reasons.length > 0)
    .sort((a, b) => computeScore(b.reasons) - computeScore(a.reasons) || compareByNewest(a, b))
    .slice(0, likelyLinksMax);

const reasonWeights: Record<LikelyLinkReason, number> = { amount: 4, sender: 2, time: 1 };
const computeScore = (reasons: readonly LikelyLinkReason[]): number =>
  reasons.reduce((sum, reason) => sum + reasonWeights[reason], 0);
const compareByNewest = (a: LikelyLink, b: LikelyLink): number =>
  b.createdAt.getTime() - a.createdAt.getTime();
