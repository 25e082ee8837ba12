import {
  type CatalogueToken,
  type DepositState,
  type SettlementState,
  type depositDecisions,
  type likelihoods,
  idOfNames,
  isSameAddress,
  refuse,
} from "@payment-links/contracts";
import { type Link, statusAt } from "./link.ts";
import type { Payment } from "./payment.ts";
import { type Taken, takeSettlement } from "./take-settlement.ts";

/** What its owner has decided of a deposit. */
export type DepositDecision = (typeof depositDecisions)[number];

/** What the chain tells of a deposit, and when it was heard that it has it again, if it took it away. */
export type HeardDeposit = DepositState & { returnedAt: Date | null };

/** A deposit as one account has it: what the chain tells, and what was decided. */
export type Deposit = HeardDeposit & {
  userId: string;
  decision: DepositDecision;
  decidedAt: Date | null;
  linkId: string | null;
  paymentId: string | null;
};

const steps: Record<DepositState["status"], number> = { seen: 0, settled: 1, orphaned: 2 };

/** A deposit after what is told of it; the same one if that is nothing new. */
export const hearOfDeposit = <Known extends HeardDeposit>(
  known: Known,
  told: DepositState,
  now: Date,
): Known => {
  if (told.version <= known.version && !isFurther(known, told)) return known;
  const isGone = told.status === "orphaned";
  const isBack = known.status === "orphaned" && !isGone;
  const returnedAt = isBack ? now : known.returnedAt;
  const version = Math.max(known.version, told.version);
  return { ...known, ...told, version, returnedAt: isGone ? null : returnedAt };
};

/**
 * A later step is news under any version, as a listener that was restored from a dump counts anew. That
 * its chain took it away is such a step once: of one that came back it may be what was told before.
 */
const isFurther = (known: HeardDeposit, { status }: DepositState): boolean =>
  steps[status] > steps[known.status] && (status !== "orphaned" || known.returnedAt === null);

/** The source of all payments that assigned deposits become. */
export const depositSource = "deposit";

/**
 * The payment that an assigned deposit is. It has a source of its own, so that it is none of the
 * chain's, and is named by deposit and account. Its id cannot be guessed without the link's.
 */
export const settlementOfDeposit = (
  deposit: DepositState & Pick<Deposit, "userId">,
  linkId: string,
): SettlementState => ({
  id: idOfNames("tx", ["deposit", deposit.id, linkId]),
  version: deposit.version,
  source: depositSource,
  sourceId: `${deposit.id}:${deposit.userId}`,
  paymentLinkId: linkId,
  status: "settled",
  amount: deposit.amount,
  tokenAddress: deposit.tokenAddress,
  chainId: deposit.chainId,
  destinationAddress: deposit.destinationAddress,
  sourceTransaction: deposit.sourceTransaction,
  occurredAt: deposit.occurredAt,
  firstSeenAt: deposit.firstSeenAt,
  isOrphaned: deposit.status === "orphaned",
});

/**
 * Decides an assignment: the payment, and the link with its credit. Refuses where the deposit is not
 * there to be given, or the link cannot take it (rule CALLER-29). `reports` are all payments of the owner
 * in the same transaction.
 */
export const assignDeposit = (
  deposit: Deposit,
  context: {
    link: Link;
    reports: readonly Payment[];
    tokenOf: (tokenId: string) => CatalogueToken;
    now: Date;
  },
): {
  taken: Taken & { credited: NonNullable<Taken["credited"]> };
  judgedAgain: readonly Taken[];
} => {
  const { link, now, tokenOf } = context;
  const token = tokenOf(link.tokenId);
  if (deposit.decision === "assigned") throw refuse("DEPOSIT_ALREADY_ASSIGNED");
  if (deposit.status === "orphaned") throw refuse("DEPOSIT_ORPHANED");
  if (deposit.status === "seen") throw refuse("DEPOSIT_NOT_SETTLED");
  const isSame = (a: string, b: string) => isSameAddress(token.chain.chainType, a, b);
  const isRightToken =
    deposit.chainId === link.chainId && isSame(deposit.tokenAddress, link.tokenAddress);
  if (!isRightToken) throw refuse("DEPOSIT_WRONG_TOKEN");
  if (!isSame(deposit.destinationAddress, link.destinationAddress)) {
    throw refuse("DEPOSIT_WRONG_DESTINATION");
  }
  if (statusAt(link, now) !== "active") throw refuse("PAYMENT_LINK_NOT_ACTIVE");
  const settlement = settlementOfDeposit(deposit, link.id);
  const [taken, ...judgedAgain] = takeSettlement(settlement, { ...context, known: undefined });
  if (typeof taken?.payment.duplicateOf === "string") throw refuse("DEPOSIT_ALREADY_APPLIED");
  // By the chain's own time it came when the link had ended.
  if (taken?.credited === undefined) throw refuse("PAYMENT_LINK_NOT_ACTIVE");
  return { taken: { ...taken, credited: taken.credited }, judgedAgain };
};

/**
 * Returns the last moment at which a deposit may have come: blocks tell whole seconds, and a link may be made
 * and paid within one.
 */
export const latestArrival = ({ occurredAt }: Pick<DepositState, "occurredAt">): Date =>
  new Date(Math.floor(occurredAt.getTime() / 1_000) * 1_000 + 999);

/** What makes a link likely. */
export type Likelihood = (typeof likelihoods)[number];

/** What of a link tells how likely a deposit was for it. */
export type LikelyLink = Pick<Link, "id" | "toAmount" | "receivedAmount" | "createdAt"> & {
  description: string | null;
  /** Another deposit of the same sender was assigned to it. */
  isOfSender: boolean;
};

const likelyMax = 3;
const dayMs = 24 * 60 * 60 * 1000;

/** The links that a deposit was likeliest for, by how many reasons, with these; the newest first. */
export const rankLinks = (
  { amount, occurredAt }: Pick<Deposit, "amount" | "occurredAt">,
  links: readonly LikelyLink[],
): readonly (LikelyLink & { reasons: readonly Likelihood[] })[] =>
  links
    .map((link) => {
      const ageMs = occurredAt.getTime() - link.createdAt.getTime();
      const reasons: Likelihood[] = [
        ...(amount.equals(link.toAmount.minus(link.receivedAmount)) ? (["amount"] as const) : []),
        ...(link.isOfSender ? (["sender"] as const) : []),
        ...(ageMs >= 0 && ageMs <= dayMs ? (["time"] as const) : []),
      ];
      return { ...link, reasons };
    })
    .filter(({ reasons }) => reasons.length > 0)
    .sort((a, b) => weigh(b.reasons) - weigh(a.reasons) || byAge(a, b))
    .slice(0, likelyMax);

const weights: Record<Likelihood, number> = { amount: 4, sender: 2, time: 1 };
const weigh = (reasons: readonly Likelihood[]): number =>
  reasons.reduce((sum, reason) => sum + weights[reason], 0);
const byAge = (a: LikelyLink, b: LikelyLink): number =>
  b.createdAt.getTime() - a.createdAt.getTime();
