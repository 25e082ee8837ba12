import type { Overview } from "../../api/operations.ts";

/** What came in of one token: each day of the time in view, the oldest first. */
export type ReceivedToken = {
  tokenId: string;
  symbol: string;
  chain: string;
  total: string;
  days: readonly { day: string; amount: string; paymentCount: number }[];
};

const dayMs = 86_400_000;

/** What came in by token, with the days on which nothing did; sums are exact. */
export const readReceived = (
  { received, tokens }: Pick<Overview, "received" | "tokens">,
  { now, dayCount }: { now: Date; dayCount: number },
): ReceivedToken[] =>
  tokens.map(({ id, token }) => {
    const own = received.filter(({ tokenId }) => tokenId === id);
    const days = Array.from({ length: dayCount }, (_none, index) => {
      const day = new Date(now.getTime() - (dayCount - 1 - index) * dayMs)
        .toISOString()
        .slice(0, 10);
      const found = own.find((one) => one.day === day);
      return { day, amount: found?.amount ?? "0", paymentCount: found?.paymentCount ?? 0 };
    });
    const total = sumOf(own.map(({ amount }) => amount));
    return { tokenId: id, symbol: token.symbol, chain: token.chain.name, total, days };
  });

const placesMax = 78;

/** Adds plain decimals, digit by digit. */
const sumOf = (amounts: readonly string[]): string => {
  const units = amounts.reduce((sum, amount) => {
    const [whole = "0", fraction = ""] = amount.split(".");
    return sum + BigInt(whole + fraction.padEnd(placesMax, "0"));
  }, 0n);
  const digits = units.toString().padStart(placesMax + 1, "0");
  const fraction = digits.slice(-placesMax).replace(/0+$/, "");
  return fraction === ""
    ? digits.slice(0, -placesMax)
    : `${digits.slice(0, -placesMax)}.${fraction}`;
};
