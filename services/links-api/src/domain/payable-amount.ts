import { type CatalogueToken, type ChainType, Decimal } from "@payment-links/contracts";

/** What of a token decides which amounts can be sent. */
export type TokenUnits = Pick<CatalogueToken, "decimals"> & {
  chain: Pick<CatalogueToken["chain"], "chainType">;
};

const uint64Max = 2n ** 64n - 1n;
const uint256Max = 2n ** 256n - 1n;
const satoshisMax = 21_000_000n * 100_000_000n;
/** Nodes hand on no output below it (P2PKH, the dearest to spend of those that an owner may have). */
const dustSatoshis = 546n;

const getMinBaseUnits = (chainType: ChainType): bigint => (chainType === "BVM" ? dustSatoshis : 1n);

/** Whether a transaction of the family can have such an amount, in base units. */
export const canSendAmount = (chainType: ChainType, amount: bigint): boolean => {
  if (chainType === "SVM") return amount <= uint64Max;
  if (chainType === "BVM") return amount >= getMinBaseUnits(chainType) && amount <= satoshisMax;
  return amount <= uint256Max;
};

/** Returns the smallest amount that a transaction of the token's chain can send, in the token's unit. */
export const getSmallestPayment = ({ chain, decimals }: TokenUnits): Decimal =>
  new Decimal(getMinBaseUnits(chain.chainType).toString()).div(new Decimal(10).pow(decimals));

/** Whether no transaction of the token's chain can ever send an amount, which fits the token's decimals. */
export const isNeverPayable = (amount: Decimal, token: TokenUnits): boolean =>
  // A `uint256` never bounds what several payments add up to.
  token.chain.chainType === "BVM" && !canSendAmount("BVM", toBaseUnits(amount, token.decimals));

/** Returns an amount in a token's base units. */
export const toBaseUnits = (amount: Decimal, decimals: number): bigint =>
  BigInt(amount.times(new Decimal(10).pow(decimals)).toFixed(0));
