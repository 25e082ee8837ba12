import type { CatalogueToken, SettlementState } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import { type Payment, creditPayment, judgePayment, openPayment } from "./payment.ts";

/** What a settlement makes of its payment and of its link. */
export type Taken = {
  /** The payment as it was told, with what became of it here. */
  payment: Payment;
  /** The link with the payment's credit; undefined if this settlement does not give it one. */
  credited: { link: Link; isCompleted: boolean } | undefined;
};

/**
 * Decides what a settlement changes; undefined if it tells nothing new. A payment is judged once,
 * when it settles. After that a later version can only add that its chain took it away: the owner is
 * told, and the link stays as it is (rule STATE-10).
 */
export const takeSettlement = (
  settlement: SettlementState,
  context: {
    link: Link;
    known: Payment | undefined;
    tokenOf: (tokenId: string) => CatalogueToken;
    now: Date;
  },
): Taken | undefined => {
  const { link, known, tokenOf, now } = context;
  if (known !== undefined && isOld(known, settlement)) return undefined;
  const told = { ...settlement, version: Math.max(settlement.version, known?.version ?? 0) };
  if (known?.status === "settled") {
    const isOrphaned = known.isOrphaned || told.isOrphaned === true;
    const orphanedAt = isOrphaned && !known.isOrphaned ? now : known.orphanedAt;
    const payment = { ...known, version: told.version, isOrphaned, orphanedAt };
    return { payment, credited: undefined };
  }
  if (told.status !== "settled") {
    return { payment: openPayment(told, undefined, now), credited: undefined };
  }
  const reason = judgePayment(link, tokenOf(link.tokenId), told);
  const payment = openPayment(told, { reason }, now);
  return { payment, credited: payment.isApplied ? creditPayment(link, payment) : undefined };
};

/** Whether a settlement tells nothing new of a payment. */
export const isOld = (known: Payment, settlement: SettlementState): boolean =>
  known.version >= settlement.version && !isFurther(known, settlement);

/**
 * A payment's steps go one way (rule STATE-6), so a later step is news under any version: a listener
 * that was restored from a dump knows the payment again, and counts its versions anew.
 */
const isFurther = (known: Payment, { status, isOrphaned = false }: SettlementState): boolean =>
  known.status === "processing"
    ? status !== "processing"
    : known.status === "settled" && isOrphaned && !known.isOrphaned;
