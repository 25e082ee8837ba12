import { type CatalogueToken, type ChainType, Decimal } from "@payment-links/contracts";

/** The fields of a token that determine which amounts can be sent. */
export type TokenUnits = Pick<CatalogueToken, "decimals"> & {
  chain: Pick<CatalogueToken["chain"], "chainType">;
};

const uint64Max = 2n ** 64n - 1n;
const uint256Max = 2n ** 256n - 1n;
const satoshisMax = 21_000_000n * 100_000_000n;
/**
 * The dust limit in satoshis: nodes do not relay outputs below this amount. The limit depends on
 * the address type. This is the limit for P2PKH, the highest among the types that a destination can
 * have.
 */
const dustSatoshis = 546n;

const getMinBaseUnits = (chainType: ChainType): bigint => (chainType === "BVM" ? dustSatoshis : 1n);

/** Returns whether one transaction on a chain of this family can send an amount in base units. */
export const canSendAmount = (chainType: ChainType, amount: bigint): boolean => {
  if (chainType === "SVM") return amount <= uint64Max;
  if (chainType === "BVM") return amount >= getMinBaseUnits(chainType) && amount <= satoshisMax;
  return amount <= uint256Max;
};

/** Returns the smallest token amount that a transaction on the token's chain can send. */
export const getSmallestPayment = ({ chain, decimals }: TokenUnits): Decimal =>
  new Decimal(getMinBaseUnits(chain.chainType).toString()).div(new Decimal(10).pow(decimals));

/**
 * Returns whether payments on the token's chain can never add up to an amount. The amount must not
 * have more decimals than the token.
 */
export const isNeverPayable = (amount: Decimal, token: TokenUnits): boolean =>
  // On the other chains, several payments can add up to more than one transaction can send.
  token.chain.chainType === "BVM" && !canSendAmount("BVM", toBaseUnits(amount, token.decimals));

/** Converts an amount to a token's base units. */
export const toBaseUnits = (amount: Decimal, decimals: number): bigint =>
  BigInt(amount.times(new Decimal(10).pow(decimals)).toFixed(0));
