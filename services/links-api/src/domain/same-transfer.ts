import { Decimal, type CatalogueToken, isSameAddress } from "@payment-links/contracts";
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

/** A settled payment that reports the same transfer, and whether the match is unambiguous. */
export type SameTransfer = { original: Payment; isCertain: boolean };

/**
 * Returns a normalized transaction hash in which different spellings are equal. Hexadecimal hashes
 * ignore case and the `0x` prefix. Base58 hashes are case-sensitive. The SQL function
 * `transaction_key` returns the same.
 */
export const toTransactionKey = (hash: string): string =>
  /^(0x)?[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase().slice(-64) : hash;

/**
 * Finds the settled payment that reports the same transfer as `report` (rule STATE-14).
 * `otherPayments` are all payments of the same owner in the same transaction.
 *
 * Our own watch numbers its transfers, so two of its reports are two transfers. A provider's notice
 * has no number, so the amount and the link decide which transfer it means. A report by one
 * reporter covers at most one report by each other reporter. It may cover several if their sum fits
 * into its amount, because providers may add up the transfers of a transaction.
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
 * Ranks how well a report fits another reporter's payment; undefined if they are different
 * transfers.
 */
const rankMatch = (
  report: TransferReport,
  original: Payment,
  sameReporterPayments: readonly Payment[],
): MatchRank | undefined => {
  const coveredReports = sameReporterPayments.filter(
    ({ duplicateOf }) => duplicateOf === original.id,
  );
  // An exact match replaces a report that does not match exactly. That report is then evaluated
  // again.
  if (isExactFit(report, original)) {
    return coveredReports.some((coveredReport) => isExactFit(coveredReport, original))
      ? undefined
      : "exact";
  }
  const coveredAmount = Decimal.sum(0, ...coveredReports.map(({ amount }) => amount));
  const fits = coveredAmount.plus(report.amount).lessThanOrEqualTo(original.amount);
  if (coveredReports.length > 0 && !fits) return undefined;
  // An exact match by the same reporter is still processing.
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
 * Lists the reports of the same transaction to evaluate again because of a report that was just
 * evaluated. Reports that were not applied or were doubtful may duplicate one that is applied. If a
 * report matches another one exactly, reports that it displaced are separate transfers. Reports for
 * other links stay unchanged because those links are not locked.
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
 * Finds an equal notice of the same provider. Its two ids may mean one transfer or two, and nothing
 * shows which.
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
 * Returns whether a payment comes from a provider's notice and not from our own watch of its chain.
 */
export const isProviderNotice = (source: string): boolean => source.startsWith("provider:");

/**
 * Our own watch reports payments and deposits on all chains. Each provider reports its own notices.
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
