import * as z from "zod";
import { getFamily } from "@payment-links/chains";
import {
  type Catalogue,
  SignUp,
  SmtpFrom,
  WebhookHeaderPrefix,
  getDefaultSignUp,
} from "@payment-links/contracts";
import { CommaList, createConfigError } from "@payment-links/runtime";

const StreamCount = z.coerce.number().int().min(0).max(100_000);

/**
 * Parses the service's own environment variables.
 * - `SETTLEMENT_CHAINS`: the ids of the chains on which the checkout offers payment instructions.
 * - `TRANSFER_CHAINS`: the ids of the chains on which settlement-listener tracks direct transfers
 *   to owners. settlement-listener reads the same variable.
 * - `WEBHOOK_HEADER_PREFIX`: the prefix of the webhook header names, which the OpenAPI document
 *   lists.
 * - `EVENT_STREAMS_MAX` and `EVENT_STREAMS_PER_IP_MAX`: the maximum number of open event streams
 *   per process and per source IP.
 * - `SIGN_UP`: who can sign up. auth-keys reads the same variable. If anyone can sign up, the
 *   checkout warns about unverified sellers (rule CALLER-38).
 * - `SMTP_FROM`: the sender of emails. auth-keys reads the same variable. If it is set, this service
 *   publishes notifications (rule MAIL-3) and offers receipts by email (rule MAIL-8).
 */
export const linksApiConfig = z
  .object({
    SETTLEMENT_CHAINS: CommaList.default([]),
    TRANSFER_CHAINS: CommaList.default([]),
    WEBHOOK_HEADER_PREFIX: WebhookHeaderPrefix,
    EVENT_STREAMS_MAX: StreamCount.default(10_000),
    EVENT_STREAMS_PER_IP_MAX: StreamCount.default(100),
    SIGN_UP: SignUp.optional(),
    SMTP_FROM: SmtpFrom.optional(),
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
    hasEmail: environment.SMTP_FROM !== undefined,
  }));
export type LinksApiConfig = z.output<typeof linksApiConfig>;

/**
 * Returns the chains on which the checkout offers payment instructions. Throws `ConfigError` if a
 * chain is not in the catalogue, or if it needs fee proxies and the catalogue does not list any.
 */
export const parseSettlementChains = (
  { settlementChains }: Pick<LinksApiConfig, "settlementChains">,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of settlementChains) {
    const chain = chains.find(({ id }) => id === chainId);
    const isPayable =
      chain !== undefined &&
      (chain.feeProxies !== undefined || getFamily(chain.chainType).feeProxies === "none");
    if (isPayable) continue;
    throw createConfigError([
      `SETTLEMENT_CHAINS: chain ${chainId} has no fee proxies in the catalogue`,
    ]);
  }
  return new Set(settlementChains);
};

/**
 * Returns the chains on which direct transfers to owners are tracked. Throws `ConfigError` if a
 * chain is not an EVM chain in the catalogue, because this setting applies only to EVM chains.
 */
export const parseTransferChains = (
  { transferChains }: Pick<LinksApiConfig, "transferChains">,
  { chains }: Pick<Catalogue, "chains">,
): ReadonlySet<string> => {
  for (const chainId of transferChains) {
    const chain = chains.find(({ id }) => id === chainId);
    if (chain !== undefined && getFamily(chain.chainType).hasTransferTracking) continue;
    throw createConfigError([`TRANSFER_CHAINS: ${chainId} is not an EVM chain in the catalogue`]);
  }
  return new Set(transferChains);
};
