import {
  type Catalogue,
  createLinkBody,
  formatAmount,
  serializeToken,
} from "@payment-links/contracts";
import { createDeepPages, createEventStreams } from "@payment-links/http";
import { type ServiceContext, createServiceExports } from "@payment-links/process";
import type { Dependencies } from "./dependencies.ts";
import { buildPaymentInstructions, getRemainingAmount } from "./domain/payment-instructions.ts";
import { createCounters } from "./metrics.ts";
import { createWrittenAccountCache } from "./store/accounts.ts";
import { createDestinationCheck } from "./store/destination-check.ts";
import { createLinkFingerprintLoader } from "./store/link-fingerprints.ts";
import { createLinkViewLoader } from "./store/link-views.ts";
import { createListLinks } from "./store/list-links.ts";
import { createPendingPaymentsLoader } from "./store/payments.ts";
import { findWrongToken } from "./store/wrong-tokens.ts";

type ServiceOptions = Pick<
  Dependencies,
  "settlementChains" | "transferChains" | "webhookHeaderPrefix" | "isSignUpOpen" | "wakeRelay"
> & {
  eventStreamLimits: Parameters<typeof createEventStreams>[0]["limits"];
};

/** Creates the dependencies of the service's handlers. */
export const createDependencies = (
  context: ServiceContext,
  { eventStreamLimits: limits, ...options }: ServiceOptions,
): Dependencies => {
  const {
    fetchSolanaAccountState,
    fetchUsedAddresses,
    baseUrl,
    catalogue,
    checkoutUrl,
    clock,
    log,
    metrics,
    pool,
  } = context;
  const { settlementChains, transferChains } = options;
  const getToken = indexTokens(catalogue, checkoutUrl);
  const isDestinationUnspendable = createDestinationCheck({
    fetchSolanaAccountState,
    clock,
    onUnknown: (error, chainId) =>
      log.warn({ err: error, chain: chainId }, "Solana destination check failed"),
  });
  return {
    pool,
    catalogue,
    clock,
    log,
    fetchSolanaAccountState,
    fetchUsedAddresses,
    baseUrl,
    checkoutUrl,
    ...options,
    getToken,
    getPaymentInstructions: async (link, payerOptions) => {
      const { token } = getToken(link.tokenId);
      const result = buildPaymentInstructions(link, token, {
        ...payerOptions,
        settlementChains,
        transferChains,
      });
      if ("reason" in result) return result;
      const { destinationAddress } = link;
      const isUnspendable = await isDestinationUnspendable({ token, destinationAddress });
      return isUnspendable ? { reason: "destination_not_payable" } : result;
    },
    findWrongToken: createWrongTokenFinder(context),
    findLinkView: createLinkViewLoader(pool),
    listLinks: createListLinks(),
    listPendingPayments: createPendingPaymentsLoader(pool),
    findLinkFingerprint: createLinkFingerprintLoader(pool, clock),
    createBody: createLinkBody(() => clock.now()),
    counters: createCounters(metrics),
    deepPages: createDeepPages({ clock, metrics }),
    exports: createServiceExports(context, "links-api"),
    eventStreams: createEventStreams({ clock, metrics, limits }),
    writtenAccounts: createWrittenAccountCache(),
  };
};

const createWrongTokenFinder =
  ({ pool, catalogue }: ServiceContext): Dependencies["findWrongToken"] =>
  async (link) => {
    const lookalikes = catalogue.lookalikes.filter(
      (lookalike) => lookalike.lookalikeOf === link.tokenId,
    );
    const [{ chainId } = { chainId: "" }] = lookalikes;
    const remaining = getRemainingAmount(link);
    if (lookalikes.length === 0 || remaining.isZero()) return undefined;
    const tokens = lookalikes.map(({ address }) => address);
    const wrongToken = await findWrongToken(pool, {
      link,
      chainId,
      tokens,
      remainingAmount: remaining,
    });
    if (wrongToken === undefined) return undefined;
    const token = catalogue.findTokenByAddress(chainId, wrongToken.tokenAddress);
    const { amount, sourceTransaction } = wrongToken;
    return { amount: formatAmount(amount), symbol: token?.symbol ?? "", sourceTransaction };
  };

/**
 * Serializes every token once at startup, because every link response contains its link's token.
 */
const indexTokens = (catalogue: Catalogue, checkoutUrl: string): Dependencies["getToken"] => {
  const tokens = new Map(
    catalogue.tokens.map((token) => [
      token.id,
      { token, tokenData: serializeToken(token, checkoutUrl) },
    ]),
  );
  return (tokenId) => {
    const entry = tokens.get(tokenId);
    if (entry === undefined) throw new Error(`the catalogue no longer contains token ${tokenId}`);
    return entry;
  };
};
