import { type CatalogueToken, type Decimal, smallestDeposit } from "@payment-links/contracts";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import { configFault } from "./config-fault.ts";

/**
 * The least amounts of deposits that show, by the tokens' addresses: what an operator sets, or what
 * `smallestDeposit` says. Throws ConfigError where a minimum is set of what is no token of the chain.
 */
export const depositMinimumsOf = (
  chainId: string,
  tokens: readonly CatalogueToken[],
  { depositMinimums: set = {} }: ChainOverride,
): Readonly<Record<string, Decimal>> => {
  const known = new Set(tokens.map(({ address }) => address));
  const unknown = Object.keys(set).find((address) => !known.has(address));
  if (unknown !== undefined) {
    throw configFault(`CHAINS_FILE sets a minimum of ${unknown}, no token of chain ${chainId}`);
  }
  return Object.fromEntries(
    tokens.map((token) => [token.address, set[token.address] ?? smallestDeposit(token)]),
  );
};
