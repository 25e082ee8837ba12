import { type ChainType, getFamily } from "@payment-links/chains";
import { type CatalogueToken, Decimal } from "@payment-links/contracts";

/** The fields of a token that determine which amounts can be sent. */
export type TokenUnits = Pick<CatalogueToken, "decimals"> & {
  chain: Pick<CatalogueToken["chain"], "chainType">;
};

/** Returns whether one transaction on a chain of this family can send an amount in base units. */
export const canSendAmount = (chainType: ChainType, amount: bigint): boolean => {
  const { largest, smallest } = getFamily(chainType).amounts;
  return amount >= smallest && amount <= largest;
};

/** Returns the smallest token amount that a transaction on the token's chain can send. */
export const getSmallestPayment = ({ chain, decimals }: TokenUnits): Decimal => {
  const { smallest } = getFamily(chain.chainType).amounts;
  return new Decimal(smallest.toString()).div(new Decimal(10).pow(decimals));
};

/**
 * Returns whether payments on the token's chain can never add up to an amount. The amount must not
 * have more decimals than the token.
 */
export const isNeverPayable = (amount: Decimal, { chain, decimals }: TokenUnits): boolean => {
  const { largestSum, smallest } = getFamily(chain.chainType).amounts;
  const baseUnits = toBaseUnits(amount, decimals);
  return baseUnits < smallest || (largestSum !== undefined && baseUnits > largestSum);
};

/** Converts an amount to a token's base units. */
export const toBaseUnits = (amount: Decimal, decimals: number): bigint =>
  BigInt(amount.times(new Decimal(10).pow(decimals)).toFixed(0));
