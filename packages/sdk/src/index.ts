import { type PaymentLinks, type PaymentLinksOptions, createClient } from "./create-client.ts";
import { systemRuntime } from "./runtime.ts";

export { compareAmounts } from "./compare-amounts.ts";
export type { CallOptions } from "./call-options.ts";
export type {
  CreateOptions,
  LinkToCreate,
  PaymentLinks,
  PaymentLinksOptions,
} from "./create-client.ts";
export { NoAnswerError, PaymentLinksError, type Problem, WaitTimeoutError } from "./errors.ts";
export type { PaymentLinkChanges } from "./list-links.ts";
export {
  type ReceivedRequest,
  WebhookRefusedError,
  type WebhookRefusal,
  type WebhookSettings,
  isWebhook,
  readWebhook,
} from "./read-webhook.ts";
export type {
  ChainData,
  CompletedWebhook,
  PaymentLinkCreationData,
  PaymentLinkData,
  PaymentLinkPage,
  PaymentLinksFilter,
  RetrievedPaymentLink,
  TokenData,
  TransactionSucceededWebhook,
  TransactionUnappliedWebhook,
  UnappliedWebhookTransaction,
  UserData,
  UserWalletData,
  Webhook,
  WebhookBodies,
  WebhookTransaction,
} from "./shapes.ts";
export type { WaitOptions } from "./wait-for-link.ts";

/** Creates a client of one service. It does not hold connections and does not need to be closed. */
export const createPaymentLinks = (options: PaymentLinksOptions): PaymentLinks =>
  createClient(options, systemRuntime);
