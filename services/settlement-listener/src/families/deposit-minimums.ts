import { type CatalogueToken, type Decimal, getSmallestDeposit } from "@payment-links/contracts";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import { chainConfigError } from "./chain-config-error.ts";

/**
 * The least amounts of deposits that show, by the tokens' addresses: what an operator sets, or what
 * `getSmallestDeposit` says. Throws ConfigError where a minimum is set of what is no token of the chain.
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
      `CHAINS_FILE sets a minimum of ${unknownAddress}, no token of chain ${chainId}`,
    );
  }
  return Object.fromEntries(
    tokens.map((token) => [
      token.address,
      configuredMinimums[token.address] ?? getSmallestDeposit(token),
    ]),
  );
};
