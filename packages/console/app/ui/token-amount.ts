const exactFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 100 });
const currencyFormat = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 100,
});

type Token = { symbol: string; isStablecoin: boolean | null };

/**
 * Formats an amount for the user's locale with all digits. The amount of a stablecoin has at least
 * two decimals, like a price.
 */
export const formatTokenNumber = (amount: string, { isStablecoin }: Token): string => {
  if (!/^\d+(\.\d+)?$/.test(amount)) return amount;
  const format = isStablecoin === true ? currencyFormat : exactFormat;
  return format.format(amount as `${number}`);
};

/** Formats an amount with its token's symbol. */
export const formatTokenAmount = (amount: string, token: Token): string =>
  `${formatTokenNumber(amount, token)} ${token.symbol}`;
