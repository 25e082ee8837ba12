import { isSameAddress } from "@payment-links/chains";
import { Decimal, type CatalogueToken } from "@payment-links/contracts";
import type { Payment } from "./payment.ts";

/** The fields of a payment that identify the transfer it reports. */
export type TransferReport = Pick<
  Payment,
  | "id"
  | "linkId"
  | "source"
  | "amount"
  | "chainId"
  | "tokenAddress"
  | "destinationAddress"
  | "sourceTransaction"
>;

/** A settled payment that reports the same transfer, and whether the match is certain. */
export type SameTransfer = { original: Payment; isCertain: boolean };

/**
 * Returns a normalized transaction hash that is the same for all spellings of the hash. Hexadecimal
 * hashes are compared without case and `0x` prefix. Base58 hashes are case-sensitive. The SQL
 * function `transaction_key` returns the same value.
 */
export const toTransactionKey = (hash: string): string =>
  /^(0x)?[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase().slice(-64) : hash;

/**
 * Finds the settled payment that reports the same transfer as `report` (rule STATE-14).
 * `otherPayments` contains all of the same owner's payments in the same transaction.
 *
 * settlement-listener numbers the transfers of a transaction, so two of its reports are always two
 * transfers. A provider's notice does not have a number, so the amount and the link decide which
 * transfer it means. For each other reporter, a payment matches one report, or several whose sum
 * does not exceed the payment's amount, because a provider can add up the transfers of a
 * transaction.
 */
export const findSameTransfer = (
  report: TransferReport,
  otherPayments: readonly Payment[],
  chainType: CatalogueToken["chain"]["chainType"],
): SameTransfer | undefined => {
  const matchingPayments = otherPayments.filter(
    (otherPayment) =>
      otherPayment.id !== report.id && matchesTransfer(report, otherPayment, chainType),
  );
  const sameReporterPayments = matchingPayments.filter(
    (otherPayment) => getReporter(otherPayment) === getReporter(report),
  );
  const originals = matchingPayments
    .filter(({ duplicateOf, status }) => status === "settled" && duplicateOf === null)
    .filter((original) => getReporter(original) !== getReporter(report));
  const ranked = originals.flatMap((original) => {
    const rank = rankMatch(report, original, sameReporterPayments);
    return rank === undefined ? [] : [{ original, rank }];
  });
  const [bestMatch, secondMatch] = ranked.toSorted(
    (a, b) =>
      matchRanks.indexOf(a.rank) - matchRanks.indexOf(b.rank) ||
      Number(b.original.isApplied) - Number(a.original.isApplied),
  );
  if (bestMatch === undefined)
    return findRepeatedNotice(report, sameReporterPayments, matchingPayments);
  const isOnlyMatch = secondMatch?.rank !== bestMatch.rank;
  return { original: bestMatch.original, isCertain: bestMatch.rank === "exact" && isOnlyMatch };
};

const matchRanks = ["exact", "other_amount", "other_link"] as const;
type MatchRank = (typeof matchRanks)[number];

/**
 * Ranks how well a report matches another reporter's payment. Returns undefined if they are
 * different transfers.
 */
const rankMatch = (
  report: TransferReport,
  original: Payment,
  sameReporterPayments: readonly Payment[],
): MatchRank | undefined => {
  const coveredReports = sameReporterPayments.filter(
    ({ duplicateOf }) => duplicateOf === original.id,
  );
  // An exact match takes precedence over reports that matched the payment less well. Those reports
  // are then evaluated again.
  if (isExactFit(report, original)) {
    return coveredReports.some((coveredReport) => isExactFit(coveredReport, original))
      ? undefined
      : "exact";
  }
  const coveredAmount = Decimal.sum(0, ...coveredReports.map(({ amount }) => amount));
  const fits = coveredAmount.plus(report.amount).lessThanOrEqualTo(original.amount);
  if (coveredReports.length > 0 && !fits) return undefined;
  // The same reporter has an exact match that is still processing.
  const isReserved = sameReporterPayments.some(
    ({ amount, linkId, status }) =>
      status === "processing" && linkId === original.linkId && amount.equals(original.amount),
  );
  if (isReserved) return undefined;
  if (original.linkId === report.linkId) return "other_amount";
  return original.amount.equals(report.amount) && original.isApplied ? "other_link" : undefined;
};

const isExactFit = (report: TransferReport, original: Payment): boolean =>
  original.linkId === report.linkId && original.amount.equals(report.amount);

/**
 * Lists the reports of the same transaction that have to be evaluated again after another report
 * was evaluated:
 * - If the evaluated payment was applied, reports that were not applied or had a conflict can be
 *   duplicates of it.
 * - If the evaluated payment is an exact duplicate, reports of the same reporter that matched the
 *   original less well can be separate transfers.
 *
 * Reports for other links do not change, because those links are not locked.
 */
export const listReportsToReevaluate = (
  evaluatedPayment: Payment,
  otherPayments: readonly Payment[],
): Payment[] => {
  const unappliedReports = otherPayments.filter(
    ({ id, isApplied, linkId, status }) =>
      id !== evaluatedPayment.id &&
      linkId === evaluatedPayment.linkId &&
      status === "settled" &&
      !isApplied,
  );
  if (evaluatedPayment.reason === "duplicate") {
    return unappliedReports.filter(
      (report) =>
        report.duplicateOf === evaluatedPayment.duplicateOf &&
        getReporter(report) === getReporter(evaluatedPayment),
    );
  }
  if (!evaluatedPayment.isApplied) return [];
  const originals = unappliedReports.filter(({ duplicateOf }) => duplicateOf === null);
  const originalIds = new Set(originals.map(({ id }) => id));
  const repeatedReports = unappliedReports.filter(
    ({ duplicateOf, reason }) => reason === "conflict" || originalIds.has(duplicateOf ?? ""),
  );
  return [...originals, ...repeatedReports];
};

/**
 * Finds an equal notice of the same provider. The two notices can mean one transfer or two, which
 * cannot be determined.
 */
const findRepeatedNotice = (
  report: TransferReport,
  sameReporterPayments: readonly Payment[],
  matchingPayments: readonly Payment[],
): SameTransfer | undefined => {
  if (!isProviderNotice(report.source)) return undefined;
  const repeatedNotice = sameReporterPayments.find(
    ({ amount, linkId, status }) =>
      status === "settled" && linkId === report.linkId && amount.equals(report.amount),
  );
  if (repeatedNotice === undefined) return undefined;
  const original =
    matchingPayments.find(({ id }) => id === repeatedNotice.duplicateOf) ?? repeatedNotice;
  return { original, isCertain: false };
};

/**
 * Returns whether a payment comes from a provider's notice and not from settlement-listener's own
 * chain scan.
 */
export const isProviderNotice = (source: string): boolean => source.startsWith("provider:");

/**
 * Returns who reported a payment: the provider of a notice, or settlement-listener for everything
 * that it found on a chain.
 */
const getReporter = ({ source }: Pick<Payment, "source">): string =>
  isProviderNotice(source) ? source : "watch";

const matchesTransfer = (
  report: TransferReport,
  otherReport: TransferReport,
  chainType: CatalogueToken["chain"]["chainType"],
): boolean =>
  report.chainId === otherReport.chainId &&
  report.sourceTransaction !== null &&
  otherReport.sourceTransaction !== null &&
  toTransactionKey(report.sourceTransaction) === toTransactionKey(otherReport.sourceTransaction) &&
  isSameAddress(chainType, report.tokenAddress, otherReport.tokenAddress) &&
  isSameAddress(chainType, report.destinationAddress, otherReport.destinationAddress);

/** A payment, and the owner of its link. */
export type PaymentReport = { userId: string; payment: Payment };

type PaymentTransaction = Pick<Payment, "chainId" | "sourceTransaction">;

/**
 * All reported payments, indexed by transaction. Callers add each result while they evaluate a
 * chunk.
 */
export type PaymentReports = {
  /** Lists an owner's payments in the same transaction as another payment. */
  list: (userId: string, transaction: PaymentTransaction) => readonly Payment[];
  /** Adds a payment or replaces its previous state. */
  set: (report: PaymentReport) => void;
};

/** Indexes payments by owner and transaction. */
export const createPaymentReports = (initialReports: readonly PaymentReport[]): PaymentReports => {
  const byTransaction = new Map<string, Map<string, Payment>>();
  const reports: PaymentReports = {
    list: (userId, transaction) => [
      ...(byTransaction.get(buildReportKey(userId, transaction))?.values() ?? []),
    ],
    set: ({ userId, payment }) => {
      if (payment.sourceTransaction === null) return;
      const key = buildReportKey(userId, payment);
      const transactionPayments = byTransaction.get(key) ?? new Map<string, Payment>();
      byTransaction.set(key, transactionPayments.set(payment.id, payment));
    },
  };
  for (const report of initialReports) reports.set(report);
  return reports;
};

const buildReportKey = (
  userId: string,
  { chainId, sourceTransaction }: PaymentTransaction,
): string =>
  JSON.stringify([
    userId,
    chainId,
    sourceTransaction === null ? null : toTransactionKey(sourceTransaction),
  ]);
