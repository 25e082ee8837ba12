import { type CatalogueToken, type Decimal, getSmallestDeposit } from "@payment-links/contracts";
import type { ChainOverride } from "./chain-settings.ts";
import { chainConfigError } from "./chain-config-error.ts";

/**
 * Returns the minimum amount of a reported deposit for each token address. It is the operator's
 * setting, or `getSmallestDeposit` by default. Throws `ConfigError` if a minimum is set for a token
 * that the chain does not have.
 */
export const resolveDepositMinimums = (
  chainId: string,
  tokens: readonly CatalogueToken[],
  { depositMinimums: configuredMinimums = {} }: ChainOverride,
): Readonly<Record<string, Decimal>> => {
  const tokenAddresses = new Set(tokens.map(({ address }) => address));
  const unknownAddress = Object.keys(configuredMinimums).find(
    (address) => !tokenAddresses.has(address),
  );
  if (unknownAddress !== undefined) {
    throw chainConfigError(
      `CHAINS_FILE sets a deposit minimum for ${unknownAddress}, which is not a token on chain ${chainId}`,
    );
  }
  return Object.fromEntries(
    tokens.map((token) => [
      token.address,
      configuredMinimums[token.address] ?? getSmallestDeposit(token),
    ]),
  );
};
