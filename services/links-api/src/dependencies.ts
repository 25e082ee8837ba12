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

/** What this service gives its rooms: the ground, and what it made on the ground. */
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
  /** A link's token and how the wire shows it. Throws if the catalogue has lost the token. */
  getToken: (tokenId: string) => { token: CatalogueToken; tokenData: TokenData };
  /** The chains on which payers are told how to pay. */
  settlementChains: ReadonlySet<string>;
  /** The chains on which transfers straight to owners are read. */
  transferChains: ReadonlySet<string>;
  /** How a link is paid at an instant, or why not. Refuses an amount that the token cannot express. */
  getPaymentInstructions: (
    link: OwnedLinkView,
    options: InstructionsOptions,
  ) => Promise<InstructionsResult>;
  /** Whether anyone may open an account, so that payers learn which sellers are verified. */
  isSignUpOpen: boolean;
  /** What the names of the headers that authenticate a webhook begin with. */
  webhookHeaderPrefix: string;
  /** Money for a link in a token that is mistaken for the link's, if some came (rule CHAIN-27). */
  findWrongToken: (link: OwnedLinkView) => Promise<WrongToken | undefined>;
  findLinkView: FindLinkView;
  listLinks: ListLinks;
  listPendingPayments: ListPendingPayments;
  /** The mark of what a stream follows, by its key. */
  findLinkFingerprint: LoadOne<string>;
  createBody: z.ZodType<z.output<ReturnType<typeof createLinkBody>>>;
  counters: Counters;
  deepPages: DeepPages;
  exports: Exports<ServiceContext["pool"]>;
  eventStreams: EventStreams;
  writtenAccounts: WrittenAccountCache;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};
