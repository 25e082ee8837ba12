import type { Overview } from "../../api/operations.ts";

/** The amounts received in one token, for each day of the period, oldest first. */
export type ReceivedToken = {
  tokenId: string;
  symbol: string;
  chain: string;
  total: string;
  days: readonly { day: string; amount: string; paymentCount: number }[];
};

const dayMs = 86_400_000;

/** Groups received amounts by token and fills in days without payments. Totals are exact. */
export const summarizeReceived = (
  { received, tokens }: Pick<Overview, "received" | "tokens">,
  { now, dayCount }: { now: Date; dayCount: number },
): ReceivedToken[] =>
  tokens.map(({ id, token }) => {
    const tokenRows = received.filter(({ tokenId }) => tokenId === id);
    const days = Array.from({ length: dayCount }, (_none, index) => {
      const day = new Date(now.getTime() - (dayCount - 1 - index) * dayMs)
        .toISOString()
        .slice(0, 10);
      const dayRow = tokenRows.find((row) => row.day === day);
      return { day, amount: dayRow?.amount ?? "0", paymentCount: dayRow?.paymentCount ?? 0 };
    });
    const total = sumAmounts(tokenRows.map(({ amount }) => amount));
    return { tokenId: id, symbol: token.symbol, chain: token.chain.name, total, days };
  });

const decimalPlacesMax = 78;

/** Adds plain decimals exactly. */
const sumAmounts = (amounts: readonly string[]): string => {
  const scaledTotal = amounts.reduce((sum, amount) => {
    const [whole = "0", fraction = ""] = amount.split(".");
    return sum + BigInt(whole + fraction.padEnd(decimalPlacesMax, "0"));
  }, 0n);
  const digits = scaledTotal.toString().padStart(decimalPlacesMax + 1, "0");
  const fraction = digits.slice(-decimalPlacesMax).replace(/0+$/, "");
  return fraction === ""
    ? digits.slice(0, -decimalPlacesMax)
    : `${digits.slice(0, -decimalPlacesMax)}.${fraction}`;
};
