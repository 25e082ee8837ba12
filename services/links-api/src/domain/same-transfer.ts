import { Decimal, type CatalogueToken, isSameAddress } from "@payment-links/contracts";
import type { Payment } from "./payment.ts";

/** What identifies the transfer that a payment reports. */
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

/** A settled payment that reports the same transfer, and whether both reports clearly mean that transfer. */
export type SameTransfer = { original: Payment; isCertain: boolean };

/**
 * Returns the form in which two spellings of one transaction hash are equal. Hexadecimal hashes ignore
 * case and the `0x` prefix. Base58 hashes are compared letter by letter. The SQL function
 * `transaction_key` returns the same.
 */
export const transactionKey = (hash: string): string =>
  /^(0x)?[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase().slice(-64) : hash;

/**
 * Finds the settled payment that reports the same transfer as `report` (rule STATE-14). `others` are all
 * payments of the same owner in the same transaction.
 *
 * Our own watch numbers its transfers, so two of its reports are two transfers. A provider's notice has no
 * number, so the amount and the link decide which transfer it means. A report by one reporter covers at
 * most one report by each other reporter, or several as long as their sum fits into its amount: providers
 * may add up the transfers of a transaction.
 */
export const findSameTransfer = (
  report: TransferReport,
  others: readonly Payment[],
  chainType: CatalogueToken["chain"]["chainType"],
): SameTransfer | undefined => {
  const sameMoney = others.filter(
    (other) => other.id !== report.id && isSameMoney(report, other, chainType),
  );
  const own = sameMoney.filter((other) => reporterOf(other) === reporterOf(report));
  const originals = sameMoney
    .filter(({ duplicateOf, status }) => status === "settled" && duplicateOf === null)
    .filter((original) => reporterOf(original) !== reporterOf(report));
  const ranked = originals.flatMap((original) => {
    const rank = rankOf(report, original, own);
    return rank === undefined ? [] : [{ original, rank }];
  });
  const [best, second] = ranked.toSorted(
    (one, other) =>
      ranks.indexOf(one.rank) - ranks.indexOf(other.rank) ||
      Number(other.original.isApplied) - Number(one.original.isApplied),
  );
  if (best === undefined) return findRepeat(report, own, sameMoney);
  const isOnlyOne = second?.rank !== best.rank;
  return { original: best.original, isCertain: best.rank === "exact" && isOnlyOne };
};

const ranks = ["exact", "other_amount", "other_link"] as const;
type Rank = (typeof ranks)[number];

/** How well a report fits another reporter's payment; undefined if they are different transfers. */
const rankOf = (
  report: TransferReport,
  original: Payment,
  own: readonly Payment[],
): Rank | undefined => {
  const covered = own.filter(({ duplicateOf }) => duplicateOf === original.id);
  // What fits exactly takes the place of a report that does not. That one is then judged again.
  if (isExactFit(report, original)) {
    return covered.some((one) => isExactFit(one, original)) ? undefined : "exact";
  }
  const coveredAmount = Decimal.sum(0, ...covered.map(({ amount }) => amount));
  const fits = coveredAmount.plus(report.amount).lessThanOrEqualTo(original.amount);
  if (covered.length > 0 && !fits) return undefined;
  // Another report of the same reporter, still on its way, fits exactly.
  const isReserved = own.some(
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
 * Lists the reports of the same transaction to judge again because of a report that was just judged. Those
 * that did not count, or were doubtful, may repeat one that does. If a report fits another one exactly,
 * those that had taken its place are transfers of their own. Other links' reports stay as they are: they
 * are not locked.
 */
export const listToJudgeAgain = (judged: Payment, others: readonly Payment[]): Payment[] => {
  const unapplied = others.filter(
    ({ id, isApplied, linkId, status }) =>
      id !== judged.id && linkId === judged.linkId && status === "settled" && !isApplied,
  );
  if (judged.reason === "duplicate") {
    return unapplied.filter(
      (one) => one.duplicateOf === judged.duplicateOf && reporterOf(one) === reporterOf(judged),
    );
  }
  if (!judged.isApplied) return [];
  const originals = unapplied.filter(({ duplicateOf }) => duplicateOf === null);
  const originalIds = new Set(originals.map(({ id }) => id));
  const repeats = unapplied.filter(
    ({ duplicateOf, reason }) => reason === "conflict" || originalIds.has(duplicateOf ?? ""),
  );
  return [...originals, ...repeats];
};

/**
 * Finds an equal notice of the same provider. Its two ids may mean one transfer or two; nothing tells
 * which.
 */
const findRepeat = (
  report: TransferReport,
  own: readonly Payment[],
  sameMoney: readonly Payment[],
): SameTransfer | undefined => {
  if (!isNotice(report.source)) return undefined;
  const repeated = own.find(
    ({ amount, linkId, status }) =>
      status === "settled" && linkId === report.linkId && amount.equals(report.amount),
  );
  if (repeated === undefined) return undefined;
  const original = sameMoney.find(({ id }) => id === repeated.duplicateOf) ?? repeated;
  return { original, isCertain: false };
};

/** Returns whether a payment comes from a provider's notice rather than from our own watch of its chain. */
export const isNotice = (source: string): boolean => source.startsWith("provider:");

/** Our own watch reports payments and deposits of all chains; each provider reports its own notices. */
const reporterOf = ({ source }: Pick<Payment, "source">): string =>
  isNotice(source) ? source : "watch";

const isSameMoney = (
  one: TransferReport,
  other: TransferReport,
  chainType: CatalogueToken["chain"]["chainType"],
): boolean =>
  one.chainId === other.chainId &&
  one.sourceTransaction !== null &&
  other.sourceTransaction !== null &&
  transactionKey(one.sourceTransaction) === transactionKey(other.sourceTransaction) &&
  isSameAddress(chainType, one.tokenAddress, other.tokenAddress) &&
  isSameAddress(chainType, one.destinationAddress, other.destinationAddress);
