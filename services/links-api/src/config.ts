import * as z from "zod";
import type { Catalogue } from "@payment-links/contracts";
import { CommaList, ConfigError } from "@payment-links/runtime";

/** The service's own variable: the ids of the chains on which payers may pay through the fee proxies. */
export const linksApiConfig = z
  .object({ SETTLEMENT_CHAINS: CommaList.default([]) })
  .transform(({ SETTLEMENT_CHAINS: settlementChains }) => ({ settlementChains }));
export type LinksApiConfig = z.output<typeof linksApiConfig>;

/**
 * The chains on which payers are told how to pay. Throws ConfigError if one of them is not in the
 * catalogue or has no fee proxies there: nobody could pay on it.
 */
export const readSettlementChains = (
  { settlementChains }: LinksApiConfig,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of settlementChains) {
    if (chains.find(({ id }) => id === chainId)?.feeProxies !== undefined) continue;
    throw new ConfigError(
      `The configuration cannot be used:\n  SETTLEMENT_CHAINS: the catalogue has no fee proxies on chain ${chainId}`,
    );
  }
  return new Set(settlementChains);
};
