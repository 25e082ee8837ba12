import * as z from "zod";
import {
  type Catalogue,
  SignUp,
  WebhookHeaderPrefix,
  getDefaultSignUp,
} from "@payment-links/contracts";
import { CommaList, createConfigError } from "@payment-links/runtime";

const StreamCount = z.coerce.number().int().min(0).max(100_000);

/**
 * Parses the service's own environment variables.
 * - `SETTLEMENT_CHAINS`: ids of the chains on which the checkout offers payment instructions.
 * - `TRANSFER_CHAINS`: ids of the chains on which settlement-listener tracks direct transfers to
 *   owners. It reads the same variable.
 * - `WEBHOOK_HEADER_PREFIX`: prefix of the webhook header names. The OpenAPI document includes it.
 * - `EVENT_STREAMS_MAX`, `EVENT_STREAMS_PER_IP_MAX`: limits on open event streams per process and
 *   per source IP.
 * - `SIGN_UP`: same variable as in auth-keys. If anyone may sign up, the checkout marks unverified
 *   sellers (rule CALLER-38).
 */
export const linksApiConfig = z
  .object({
    SETTLEMENT_CHAINS: CommaList.default([]),
    TRANSFER_CHAINS: CommaList.default([]),
    WEBHOOK_HEADER_PREFIX: WebhookHeaderPrefix,
    EVENT_STREAMS_MAX: StreamCount.default(10_000),
    EVENT_STREAMS_PER_IP_MAX: StreamCount.default(100),
    SIGN_UP: SignUp.optional(),
    NODE_ENV: z.string().default("development"),
  })
  .transform((environment) => ({
    settlementChains: environment.SETTLEMENT_CHAINS,
    transferChains: environment.TRANSFER_CHAINS,
    webhookHeaderPrefix: environment.WEBHOOK_HEADER_PREFIX,
    eventStreamLimits: {
      total: environment.EVENT_STREAMS_MAX,
      perAddress: environment.EVENT_STREAMS_PER_IP_MAX,
    },
    isSignUpOpen: (environment.SIGN_UP ?? getDefaultSignUp(environment.NODE_ENV)) === "open",
  }));
export type LinksApiConfig = z.output<typeof linksApiConfig>;

/**
 * Returns the chains on which the checkout offers payment instructions. Throws `ConfigError` if a
 * chain is not in the catalogue, or if its family needs fee proxies and the catalogue lists none
 * for it.
 */
export const parseSettlementChains = (
  { settlementChains }: Pick<LinksApiConfig, "settlementChains">,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of settlementChains) {
    const chain = chains.find(({ id }) => id === chainId);
    const needsProxies = chain?.chainType !== "SVM" && chain?.chainType !== "BVM";
    if (chain !== undefined && (chain.feeProxies !== undefined || !needsProxies)) continue;
    throw createConfigError([
      `SETTLEMENT_CHAINS: chain ${chainId} has no fee proxies in the catalogue`,
    ]);
  }
  return new Set(settlementChains);
};

/**
 * Returns the chains on which direct transfers to owners are tracked. Throws `ConfigError` for a
 * chain that is not an EVM chain in the catalogue. On other families this setting has no effect.
 */
export const parseTransferChains = (
  { transferChains }: Pick<LinksApiConfig, "transferChains">,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of transferChains) {
    if (chains.some(({ id, chainType }) => id === chainId && chainType === "EVM")) continue;
    throw createConfigError([`TRANSFER_CHAINS: ${chainId} is not an EVM chain in the catalogue`]);
  }
  return new Set(transferChains);
};
