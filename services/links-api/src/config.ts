import * as z from "zod";
import { type Catalogue, WebhookHeaderPrefix } from "@payment-links/contracts";
import { CommaList, ConfigError } from "@payment-links/runtime";

const StreamCount = z.coerce.number().int().min(0).max(100_000);

/**
 * The service's own variables: the ids of the chains on which payers may pay through the fee proxies,
 * how the headers of webhooks are called, which the API's description tells, and how many event streams
 * a process holds, in all and of one source address.
 */
export const linksApiConfig = z
  .object({
    SETTLEMENT_CHAINS: CommaList.default([]),
    WEBHOOK_HEADER_PREFIX: WebhookHeaderPrefix,
    EVENT_STREAMS_MAX: StreamCount.default(10_000),
    EVENT_STREAMS_PER_IP_MAX: StreamCount.default(100),
  })
  .transform((environment) => ({
    settlementChains: environment.SETTLEMENT_CHAINS,
    webhookHeaderPrefix: environment.WEBHOOK_HEADER_PREFIX,
    eventStreamLimits: {
      inAll: environment.EVENT_STREAMS_MAX,
      perAddress: environment.EVENT_STREAMS_PER_IP_MAX,
    },
  }));
export type LinksApiConfig = z.output<typeof linksApiConfig>;

/**
 * The chains on which payers are told how to pay. Throws ConfigError if one of them is not in the
 * catalogue or has no fee proxies there: nobody could pay on it.
 */
export const readSettlementChains = (
  { settlementChains }: Pick<LinksApiConfig, "settlementChains">,
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
