export { AccountChange, type OwnAccount, accountOperations } from "./api/accounts.ts";
export {
  ApiKeyChange,
  type ApiKeyData,
  RotationBody,
  apiKeyBody,
  apiKeyOperations,
  overlapSecondsDefault,
} from "./api/api-keys.ts";
export {
  type AuditEntry,
  AuditExportQuery,
  type AuditFilter,
  AuditQuery,
  auditExportMax,
  auditLogOperations,
} from "./api/audit-log.ts";
export { consoleOperations } from "./api/console.ts";
export { OwnPaymentsFilter, exportOperations } from "./api/exports.ts";
export { type Operation, refusalsOf } from "./api/operation.ts";
export {
  type Overview,
  OverviewQuery,
  overviewCountMax,
  overviewOperations,
} from "./api/overview.ts";
export {
  NewPasskey,
  PasskeyAnswer,
  PasskeyChange,
  type PasskeyCreation,
  type PasskeyData,
  passkeyOperations,
} from "./api/passkeys.ts";
export {
  type CheckoutLink,
  CheckoutEventsQuery,
  CheckoutQuery,
  type CheckoutTransaction,
  LinkStoryQuery,
  OwnLinksFilter,
  OwnLinksQuery,
  type OwnPaymentData,
  type PaymentData,
  type StoryEntry,
  checkoutOperations,
  consoleLinkOperations,
  type noInstructionsReasons,
  publicLinkOperations,
  storyKinds,
  unappliedReasons,
} from "./api/payment-links.ts";
export {
  type IdentityData,
  LinkIdentityBody,
  NonceQuery,
  PresenceBody,
  type SessionData,
  SignInBody,
  SignInLinkQuestion,
  StartOidcQuery,
  identityOperations,
  sessionOperations,
  signInMethods,
  signInOperations,
} from "./api/sessions.ts";
export { type OwnWallet, WalletChange, walletBody, walletOperations } from "./api/wallets.ts";
export {
  type DeliveryAttempt,
  type DeliveryData,
  type DeliveryDetail,
  EndpointBody,
  EndpointChange,
  LinkDeliveriesQuery,
  type LinkDeliveryData,
  ListDeliveriesQuery,
  RecentHour,
  type WebhookEndpointData,
  deliveryStatuses,
  type endpointOutcomes,
  webhookEndpointOperations,
} from "./api/webhook-endpoints.ts";
export { Account, ChainType, Wallet, chainTypes, defaultWallet } from "./account.ts";
export { type Actor, AuditRecord, auditActorKinds } from "./audit.ts";
export { isAddressOrCidr } from "./cidr.ts";
export { type ApiKeyMode, hashSecret, isApiKey, mintApiKey, shownKeyLength } from "./api-key.ts";
export {
  type Catalogue,
  type CatalogueToken,
  createCatalogue,
  isSameAddress,
  openCatalogue,
  showToken,
} from "./catalogue.ts";
export { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
export { devnet } from "./devnet.ts";
export {
  type EventType,
  LinkStatus,
  LinkTransaction,
  PaymentLinkState,
  PaymentStatus,
  SettlementState,
  type Topic,
  accountSnapshot,
  accountUpdated,
  auditRecorded,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkStatuses,
  linkTransactionSucceeded,
  paymentStatuses,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
  topicSettings,
  topicUse,
  topics,
} from "./events.ts";
export { hasValidEip55, isEvmAddress, keccak256Hex, toEip55 } from "./evm-address.ts";
export { Id, type IdPrefix, idOfNames, idOfUuid, isId, newId, uuidOfId } from "./ids.ts";
export { Instant, parseInstant } from "./instant.ts";
export { IntrospectionAnswer, IntrospectionQuestion } from "./introspection.ts";
export { type RpcUrls, parseRpcUrls } from "./rpc-urls.ts";
export { JsonNumber, parseJson } from "./json.ts";
export { LinkTexts, linkTexts } from "./link-texts.ts";
export {
  Amount,
  Decimal,
  fitsBaseUnits,
  fitsDecimals,
  formatAmount,
  parseDecimal,
} from "./money.ts";
export { checkoutPageUrl, ownerImagePath, transactionPageUrl } from "./pages.ts";
export {
  ChainData,
  type CreateLinkBody,
  ListLinksQuery,
  PageQuery,
  PaymentLinkCreationData,
  type PaymentLinkData,
  type RetrievedPaymentLink,
  TokenData,
  UserData,
  UserWalletData,
  createLinkBody,
  pageSize,
} from "./payment-link.ts";
export {
  type ErrorEntry,
  Refusal,
  type RefusalCode,
  refuse,
  refuseStale,
  statusOf,
} from "./refusal.ts";
export { type Scope, scopes } from "./scope.ts";
export {
  type Reader,
  type ValidationCode,
  body,
  bool,
  changed,
  dateTime,
  futureDateTime,
  integer,
  invalid,
  list,
  nullable,
  oneOf,
  orNull,
  parameter,
  positiveDecimal,
  read,
  required,
  text,
  validationMessages,
  webUrl,
} from "./validation.ts";
export {
  AnyWebhook,
  WebhookHeaderPrefix,
  type WebhookLink,
  WebhookTransaction,
  type WebhookType,
  webhookBodies,
  webhookTypes,
} from "./webhook.ts";
