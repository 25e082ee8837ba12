import type * as z from "zod";
import {
  type Catalogue,
  type CatalogueToken,
  type TokenData,
  createLinkBody,
  formatAmount,
  serializeToken,
} from "@payment-links/contracts";
import {
  type DeepPages,
  type EventStreams,
  type Exports,
  createDeepPages,
  createEventStreams,
} from "@payment-links/http";
import { type ServiceContext, createServiceExports } from "@payment-links/process";
import { type LinksApiConfig, parseSettlementChains, parseTransferChains } from "./config.ts";
import type { OwnedLinkView } from "./domain/link-view.ts";
import {
  type InstructionsOptions,
  type InstructionsResult,
  buildPaymentInstructions,
  getRemainingAmount,
} from "./domain/payment-instructions.ts";
import type { WrongToken } from "./domain/wrong-token.ts";
import { type Counters, createCounters } from "./metrics.ts";
import { type WrittenAccountCache, createWrittenAccountCache } from "./store/accounts.ts";
import type { LoadOne } from "./store/batch-loader.ts";
import { createDestinationCheck } from "./store/destination-check.ts";
import { type RecordIgnoredFields, createIgnoredFieldsRecorder } from "./store/ignored-fields.ts";
import { createLinkFingerprintLoader } from "./store/link-fingerprints.ts";
import { type FindLinkView, createLinkViewLoader } from "./store/link-views.ts";
import { type ListLinks, createListLinks } from "./store/list-links.ts";
import { type ListPendingPayments, createPendingPaymentsLoader } from "./store/payments.ts";
import { findWrongToken } from "./store/wrong-tokens.ts";

/**
 * The dependencies of handlers and jobs: parts of the service context, and objects that this
 * service creates from it.
 */
export type Dependencies = Pick<
  ServiceContext,
  | "pool"
  | "catalogue"
  | "clock"
  | "log"
  | "fetchSolanaAccountState"
  | "fetchUsedAddresses"
  | "sendReceipt"
  | "limiter"
  | "limits"
  | "baseUrl"
  | "checkoutUrl"
> &
  Pick<LinksApiConfig, "hasEmail" | "isSignUpOpen" | "webhookHeaderPrefix"> & {
    /**
     * Returns a token and its API representation. Throws if the catalogue no longer contains the
     * token.
     */
    getToken: (tokenId: string) => { token: CatalogueToken; tokenData: TokenData };
    /** Chains on which the checkout offers payment instructions. */
    settlementChains: ReadonlySet<string>;
    /** Chains on which direct transfers to owners are tracked. */
    transferChains: ReadonlySet<string>;
    /**
     * Returns the payment instructions for a link at a given time, or the reason why there are none.
     * Throws `ApiError` if the requested amount has too many decimals or digits for the token.
     */
    getPaymentInstructions: (
      link: OwnedLinkView,
      options: InstructionsOptions,
    ) => Promise<InstructionsResult>;
    /**
     * Finds money sent to a link in a token that is easily mistaken for the link's token (rule
     * CHAIN-27).
     */
    findWrongToken: (link: OwnedLinkView) => Promise<WrongToken | undefined>;
    findLinkView: FindLinkView;
    listLinks: ListLinks;
    listPendingPayments: ListPendingPayments;
    /** Returns the current fingerprint of a followed link by the key of its streams. */
    findLinkFingerprint: LoadOne<string>;
    createBody: z.ZodType<z.output<ReturnType<typeof createLinkBody>>>;
    counters: Counters;
    deepPages: DeepPages;
    exports: Exports<ServiceContext["pool"]>;
    eventStreams: EventStreams;
    writtenAccounts: WrittenAccountCache;
    recordIgnoredFields: RecordIgnoredFields;
    /** Wakes the outbox relay after a transaction with events has been committed. */
    wakeRelay: () => void;
  };

/** Creates the dependencies. Throws `ConfigError` if a configured chain cannot be used. */
export const createDependencies = (
  context: ServiceContext,
  config: LinksApiConfig,
  wakeRelay: () => void,
): Dependencies => {
  const { catalogue, checkoutUrl, clock, fetchSolanaAccountState, log, metrics, pool } = context;
  const settlementChains = parseSettlementChains(config, catalogue);
  const transferChains = parseTransferChains(config, catalogue);
  const getToken = indexTokens(catalogue, checkoutUrl);
  const isDestinationUnspendable = createDestinationCheck({
    fetchSolanaAccountState,
    clock,
    onUnknown: (error, chainId) =>
      log.warn({ err: error, chain: chainId }, "Solana destination check failed"),
  });
  return {
    ...context,
    ...config,
    settlementChains,
    transferChains,
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
    eventStreams: createEventStreams({ clock, metrics, limits: config.eventStreamLimits }),
    writtenAccounts: createWrittenAccountCache(),
    recordIgnoredFields: createIgnoredFieldsRecorder(context),
    wakeRelay,
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
