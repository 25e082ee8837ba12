import type { CatalogueToken, SettlementState } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import {
  type Payment,
  type Verdict,
  creditPayment,
  judgePayment,
  openPayment,
  withVerdict,
} from "./payment.ts";
import {
  type TransferReport,
  findSameTransfer,
  isNotice,
  listToJudgeAgain,
} from "./same-transfer.ts";

/** What a settlement makes of a payment and of its link. */
export type Taken = {
  /** The payment, with what became of it here. */
  payment: Payment;
  /** The link with the payment's credit; undefined if this settlement does not give it one. */
  credited: { link: Link; isCompleted: boolean } | undefined;
};

type Judging = {
  link: Link;
  /** All payments of the link's owner in the same transaction. */
  reports: readonly Payment[];
  tokenOf: (tokenId: string) => CatalogueToken;
  now: Date;
};

/**
 * Decides what a settlement changes: its payment first, then earlier reports of the same transaction that
 * are judged again because of it (rule STATE-14). Empty if it tells nothing new. A payment is judged
 * when it settles, also if it had failed before (rule STATE-6). Whatever is told after it has settled, it
 * stays so: a later version can say that its chain took it away, or has it again. The owner is told,
 * and the link stays as it is (rule STATE-10).
 */
export const takeSettlement = (
  settlement: SettlementState,
  context: Judging & { known: Payment | undefined },
): readonly Taken[] => {
  const { link, known, now } = context;
  if (known !== undefined && isOld(known, settlement)) return [];
  const version = Math.max(settlement.version, known?.version ?? 0);
  const told = { ...settlement, version, occurredAt: paymentTime(settlement, known) };
  if (known !== undefined && known.status !== "processing" && !isCorrected(known, told)) {
    const payment = { ...known, version: told.version, ...flagOf(known, told, now) };
    return [{ payment, credited: undefined }];
  }
  if (told.status !== "settled") {
    return [
      { payment: openPayment(told, { known, verdict: undefined, now }), credited: undefined },
    ];
  }
  const verdict = judgeReport({ ...told, linkId: link.id }, context);
  const taken = credit(link, openPayment(told, { known, verdict, now }));
  return [taken, ...judgeAgain(taken, context)];
};

const credit = (link: Link, payment: Payment): Taken => ({
  payment,
  credited: payment.isApplied ? creditPayment(link, payment) : undefined,
});

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
  report: TransferReport & Pick<Payment, "occurredAt">,
  { link, reports, tokenOf }: Judging,
): Verdict => {
  const token = tokenOf(link.tokenId);
  const reason = judgePayment(link, token, report);
  const same = findSameTransfer(report, reports, token.chain.chainType);
  if (same === undefined || (reason === undefined && !same.original.isApplied)) return { reason };
  return { reason: same.isCertain ? "duplicate" : "conflict", duplicateOf: same.original.id };
};

/** Judges earlier reports again, each by what the one before it left. */
const judgeAgain = ({ credited, payment: judged }: Taken, context: Judging): Taken[] => {
  const reports = new Map([...context.reports, judged].map((report) => [report.id, report]));
  let link = credited?.link ?? context.link;
  const all: Taken[] = [];
  for (const report of listToJudgeAgain(judged, context.reports)) {
    const verdict = judgeReport(report, { ...context, link, reports: [...reports.values()] });
    // What is no report of the payment that counts keeps its reason.
    if (judged.isApplied && verdict.duplicateOf !== judged.id) continue;
    const taken = credit(link, withVerdict(report, verdict, context.now));
    reports.set(report.id, taken.payment);
    link = taken.credited?.link ?? link;
    all.push(taken);
  }
  return all;
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
