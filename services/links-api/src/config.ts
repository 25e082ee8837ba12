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
 * The service's own variables: the ids of the chains on which payers are told how to pay,
 * and of those on which settlement-listener, by the same variable, reads transfers straight to owners,
 * how the headers of webhooks are called, which the API's description tells, and how many event streams
 * a process holds, in all and of one source address. `SIGN_UP` is auth-keys' own: where anyone may sign
 * up, the checkout tells verified sellers from others (rule CALLER-38).
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
 * The chains on which payers are told how to pay. Throws ConfigError if one of them is not in the
 * catalogue, or has no fee proxies there and is of a family that needs them: nobody could pay on it.
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
      `SETTLEMENT_CHAINS: the catalogue has no fee proxies on chain ${chainId}`,
    ]);
  }
  return new Set(settlementChains);
};

/**
 * The chains on which a transfer straight to an owner is read. Throws ConfigError if one of them is no
 * EVM chain of the catalogue: nobody reads transfers by such a list elsewhere.
 */
export const parseTransferChains = (
  { transferChains }: Pick<LinksApiConfig, "transferChains">,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of transferChains) {
    if (chains.some(({ id, chainType }) => id === chainId && chainType === "EVM")) continue;
    throw createConfigError([`TRANSFER_CHAINS: ${chainId} is no EVM chain of the catalogue`]);
  }
  return new Set(transferChains);
};
