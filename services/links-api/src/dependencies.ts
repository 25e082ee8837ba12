import type * as z from "zod";
import type { CatalogueToken, TokenData, createLinkBody } from "@payment-links/contracts";
import type { DeepPages, EventStreams, Exports } from "@payment-links/http";
import type { ServiceContext } from "@payment-links/process";
import type { OwnedLinkView } from "./domain/link-view.ts";
import type { WrongToken } from "./domain/wrong-token.ts";
import type { InstructionsResult, InstructionsOptions } from "./domain/payment-instructions.ts";
import type { Counters } from "./metrics.ts";
import type { WrittenAccountCache } from "./store/accounts.ts";
import type { FindLinkView } from "./store/link-views.ts";
import type { ListLinks } from "./store/list-links.ts";
import type { ListPendingPayments } from "./store/payments.ts";
import type { LoadOne } from "./store/batch-loader.ts";

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
  | "baseUrl"
  | "checkoutUrl"
> & {
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
  /** Whether anyone can sign up. If so, the checkout warns about unverified sellers. */
  isSignUpOpen: boolean;
  /** The prefix of the names of the webhook headers. */
  webhookHeaderPrefix: string;
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
  /** Wakes the outbox relay after a transaction with events has been committed. */
  wakeRelay: () => void;
};
