import type { CatalogueToken, SettlementState } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import { type Payment, type Verdict, creditPayment, judgePayment, openPayment } from "./payment.ts";
import { findSameTransfer, isNotice } from "./same-transfer.ts";

/** What a settlement makes of its payment and of its link. */
export type Taken = {
  /** The payment as it was told, with what became of it here. */
  payment: Payment;
  /** The link with the payment's credit; undefined if this settlement does not give it one. */
  credited: { link: Link; isCompleted: boolean } | undefined;
  /** Earlier reports of the same transfer that did not count, and now repeat this payment (rule STATE-14). */
  replaced: readonly Payment[];
};

/**
 * Decides what a settlement changes; undefined if it tells nothing new. A payment is judged once,
 * when it settles, also if it had failed before (rule STATE-6). Whatever is told after it has settled, it
 * stays so: a later version can say that its chain took it away, or has it again. The owner is told,
 * and the link stays as it is (rule STATE-10). `reports` are all payments of the link's owner in the same
 * transaction.
 */
export const takeSettlement = (
  settlement: SettlementState,
  context: {
    link: Link;
    known: Payment | undefined;
    reports: readonly Payment[];
    tokenOf: (tokenId: string) => CatalogueToken;
    now: Date;
  },
): Taken | undefined => {
  const { link, known, reports, tokenOf, now } = context;
  if (known !== undefined && isOld(known, settlement)) return undefined;
  const version = Math.max(settlement.version, known?.version ?? 0);
  const told = { ...settlement, version, occurredAt: paymentTime(settlement, known) };
  if (known !== undefined && known.status !== "processing" && !isCorrected(known, told)) {
    const payment = { ...known, version: told.version, ...flagOf(known, told, now) };
    return { payment, credited: undefined, replaced: [] };
  }
  if (told.status !== "settled") {
    const payment = openPayment(told, { known, verdict: undefined, now });
    return { payment, credited: undefined, replaced: [] };
  }
  const token = tokenOf(link.tokenId);
  const verdict = judgeReport(told, { link, reports, token });
  const payment = openPayment(told, { known, verdict, now });
  if (!payment.isApplied) return { payment, credited: undefined, replaced: [] };
  return {
    payment,
    credited: creditPayment(link, payment),
    replaced: replaceReports(payment, reports, token.chain.chainType),
  };
};

/**
 * Returns when a payment was made: the earlier of its block's time and the moment at which a quorum had first
 * seen it (rule STATE-15). Records from before `witnessedAt` existed tell that moment by their first step.
 * A provider's notice states the time itself.
 */
const paymentTime = (
  { occurredAt, source, witnessedAt }: SettlementState,
  known: Payment | undefined,
): Date => {
  if (isNotice(source)) return occurredAt;
  const seenAt = witnessedAt ?? known?.occurredAt ?? occurredAt;
  return seenAt < occurredAt ? seenAt : occurredAt;
};

/**
 * Judges a settled payment, unless another report of the same transfer was judged before (rule STATE-14).
 * A report that was not applied gives way to one that can be.
 */
const judgeReport = (
  settlement: SettlementState,
  { link, reports, token }: { link: Link; reports: readonly Payment[]; token: CatalogueToken },
): Verdict => {
  const reason = judgePayment(link, token, settlement);
  const report = { ...settlement, linkId: link.id };
  const same = findSameTransfer(report, reports, token.chain.chainType);
  if (same === undefined || (reason === undefined && !same.original.isApplied)) return { reason };
  return { reason: same.isCertain ? "duplicate" : "conflict", duplicateOf: same.original.id };
};

/**
 * Returns the reports that give way to a payment that counts, as they are judged after it. Those of other
 * links stay as they are: only the payment's own link is locked.
 */
const replaceReports = (
  counted: Payment,
  reports: readonly Payment[],
  chainType: CatalogueToken["chain"]["chainType"],
): Payment[] => {
  const judged = new Map([...reports, counted].map((report) => [report.id, report]));
  const unapplied = reports.filter(
    ({ id, isApplied, linkId, status }) =>
      id !== counted.id && linkId === counted.linkId && status === "settled" && !isApplied,
  );
  const replaced: Payment[] = [];
  for (const report of unapplied.filter(({ duplicateOf }) => duplicateOf === null)) {
    const same = findSameTransfer(report, [...judged.values()], chainType);
    if (same?.original.id !== counted.id) continue;
    const reason = same.isCertain ? "duplicate" : "conflict";
    const repeat: Payment = { ...report, reason, duplicateOf: counted.id };
    judged.set(repeat.id, repeat);
    replaced.push(repeat);
  }
  const replacedIds = new Set(replaced.map(({ id }) => id));
  const repeats = unapplied.filter(({ duplicateOf }) => replacedIds.has(duplicateOf ?? ""));
  return [...replaced, ...repeats.map((repeat) => ({ ...repeat, duplicateOf: counted.id }))];
};

/**
 * What is told of a settled payment's place on its chain. What was told while it was processing speaks of
 * another time, and who says nothing of it leaves it.
 */
const flagOf = (
  known: Payment,
  told: SettlementState,
  now: Date,
): Partial<Pick<Payment, "isOrphaned" | "orphanedAt" | "returnedAt">> => {
  if (known.status !== "settled" || told.status !== "settled") return {};
  if (told.isOrphaned === undefined) return {};
  if (told.isOrphaned === known.isOrphaned) return {};
  return told.isOrphaned
    ? { isOrphaned: true, orphanedAt: now, returnedAt: null }
    : { isOrphaned: false, returnedAt: now };
};

/** Whether a settlement tells nothing new of a payment. */
export const isOld = (known: Payment, settlement: SettlementState): boolean =>
  known.version >= settlement.version && !isFurther(known, settlement);

/**
 * A payment's steps go one way (rule STATE-6), so a later step is news under any version: a listener
 * that was restored from a dump knows the payment again, and counts its versions anew. That its chain
 * took it away is such a step once: of one that came back it may be what was told before.
 */
const isFurther = (known: Payment, { status, isOrphaned = false }: SettlementState): boolean => {
  if (known.status === "processing") return status !== "processing";
  if (known.status === "failed") return status === "settled";
  if (known.status !== "settled" || status !== "settled") return false;
  return isOrphaned && !known.isOrphaned && !hasReturnedSettled(known);
};

/** A payment that failed counts if its chain shows it as settled later (rule STATE-6). */
const isCorrected = (known: Payment, { status }: SettlementState): boolean =>
  known.status === "failed" && status === "settled";

/** What came back before it settled says nothing of that. */
const hasReturnedSettled = ({ endedAt, returnedAt }: Payment): boolean =>
  returnedAt !== null && (endedAt === null || returnedAt >= endedAt);
