import type { Overview } from "../../api/operations.ts";
import { fromUnits, toUnits } from "../../ui/decimal.ts";

/** The ranges of the overview, in days. */
export const dayCounts = [7, 30, 90] as const;

type Token = Overview["tokens"][number]["token"];

/** The amount of one day, which starts at midnight UTC. */
export type ReceivedDay = { day: string; amount: string; paymentCount: number };

/** The amounts received in one token, for each day of the period, oldest first. */
export type ReceivedToken = {
  tokenId: string;
  token: Token;
  total: string;
  /**
   * The change against the previous period of the same length, in percent. Undefined if nothing was
   * received then.
   */
  changePercent: bigint | undefined;
  days: readonly ReceivedDay[];
};

const dayMs = 86_400_000;

/**
 * Groups received amounts by token and fills in days without payments. `received` contains at least
 * two periods of `dayCount` days, so that they can be compared. Omits tokens that were received in
 * neither of them. Totals are exact.
 */
export const summarizeReceived = (
  { received, tokens }: Pick<Overview, "received" | "tokens">,
  { now, dayCount }: { now: Date; dayCount: number },
): ReceivedToken[] =>
  tokens.flatMap(({ id, token }) => {
    const rows = received.filter(({ tokenId }) => tokenId === id);
    const days = Array.from({ length: dayCount }, (_none, index): ReceivedDay => {
      const day = getDay(now, dayCount - 1 - index);
      const row = rows.find((candidate) => candidate.day === day);
      return { day, amount: row?.amount ?? "0", paymentCount: row?.paymentCount ?? 0 };
    });
    const total = sumAmounts(days);
    const firstDay = getDay(now, dayCount - 1);
    const previousFirstDay = getDay(now, 2 * dayCount - 1);
    const previousRows = rows.filter(({ day }) => day >= previousFirstDay && day < firstDay);
    const previousTotal = sumAmounts(previousRows);
    if (total === 0n && previousTotal === 0n) return [];
    const changePercent = computeChangePercent(total, previousTotal);
    return [{ tokenId: id, token, total: fromUnits(total), changePercent, days }];
  });

const getDay = (now: Date, daysAgo: number): string =>
  new Date(now.getTime() - daysAgo * dayMs).toISOString().slice(0, 10);

const sumAmounts = (rows: readonly { amount: string }[]): bigint =>
  rows.reduce((sum, { amount }) => sum + toUnits(amount), 0n);

/** Returns the change in whole percent, rounded half away from zero. */
export const computeChangePercent = (total: bigint, previousTotal: bigint): bigint | undefined => {
  if (previousTotal === 0n) return undefined;
  const difference = total - previousTotal;
  const size = difference < 0n ? -difference : difference;
  const percent = (size * 200n + previousTotal) / (previousTotal * 2n);
  return difference < 0n ? -percent : percent;
};
