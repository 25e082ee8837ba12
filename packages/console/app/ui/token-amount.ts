import { formatAmount } from "./format.ts";

const currencyFormat = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 100,
});

type Token = { symbol: string; isStablecoin: boolean | null };

/**
 * Formats an amount for the user's locale with all digits. The amount of a stablecoin has at least
 * two decimals, like a price.
 */
export const formatTokenNumber = (amount: string, { isStablecoin }: Token): string =>
  formatAmount(amount, isStablecoin === true ? currencyFormat : undefined);

/** Formats an amount with its token's symbol. */
export const formatTokenAmount = (amount: string, token: Token): string =>
  `${formatTokenNumber(amount, token)} ${token.symbol}`;
