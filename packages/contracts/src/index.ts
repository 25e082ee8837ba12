export { AccountChange, type OwnAccount, accountOperations } from "./api/accounts.ts";
export {
  ApiKeyChange,
  type ApiKeyData,
  RotateApiKeyBody,
  createApiKeyBody,
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
export {
  AllowCommandSignInBody,
  type CommandSignInResult,
  PollCommandSignInBody,
  StartCommandSignInBody,
  commandSignInOperations,
} from "./api/command-sign-ins.ts";
export { consoleOperations } from "./api/console.ts";
export {
  AssignDepositBody,
  type DepositData,
  DepositsFilter,
  DepositsQuery,
  depositDecisions,
  depositOperations,
  type likelyLinkReasons,
} from "./api/deposits.ts";
export { OwnPaymentsFilter, exportOperations } from "./api/exports.ts";
export {
  ConfirmAddressBody,
  NotificationAddressBody,
  NotificationsChange,
  type NotificationSettingsData,
  notificationOperations,
} from "./api/notifications.ts";
export { ModeQuery, type Operation, listApiErrorCodes } from "./api/operation.ts";
export {
  type Overview,
  OverviewQuery,
  overviewCountMax,
  overviewOperations,
  paidLinksMax,
  recentPaymentsMax,
} from "./api/overview.ts";
export {
  NewPasskey,
  PasskeyAssertion,
  PasskeyChange,
  type PasskeyCreationOptions,
  type PasskeyData,
  passkeyOperations,
} from "./api/passkeys.ts";
export {
  type CheckoutLink,
  CheckoutEventsQuery,
  CheckoutQuery,
  SolanaTransactionBody,
  type CheckoutTransaction,
  FirstAddressIndexBody,
  LinkTimelineQuery,
  OwnLinksFilter,
  OwnLinksQuery,
  type OwnPaymentData,
  type OwnPaymentLinkData,
  type PaymentData,
  type TimelineEntry,
  checkoutOperations,
  consoleLinkOperations,
  type inactiveReasons,
  type noInstructionsReasons,
  publicLinkOperations,
  timelineEntryKinds,
  unappliedReasons,
} from "./api/payment-links.ts";
export {
  RecordRefundBody,
  type RefundData,
  type RefundInstructions,
  RefundInstructionsBody,
  refundOperations,
} from "./api/refunds.ts";
export {
  type IdentityData,
  LinkIdentityBody,
  NonceQuery,
  PresenceBody,
  type SessionData,
  SignInBody,
  SignInLinkRequest,
  StartOidcQuery,
  identityOperations,
  sessionOperations,
  signInMethods,
  signInOperations,
} from "./api/sessions.ts";
export {
  SimulatePaymentBody,
  type SimulatedOutcome,
  SimulatedPayment,
  simulatedOutcomes,
  testModeOperations,
} from "./api/test-mode.ts";
export {
  type CatalogueEntry,
  type OwnWallet,
  WalletChange,
  createWalletBody,
  walletOperations,
} from "./api/wallets.ts";
export {
  type DeliveryAttempt,
  type DeliveryData,
  type DeliveryDetail,
  type DeliveryRequest,
  CreateEndpointBody,
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
export { type ListenerWebhook, webhookListenerOperations } from "./api/webhook-listeners.ts";
export { Account, Wallet, findDefaultWallet, getWalletMode } from "./account.ts";
export { ignoredFieldsHeader, listIgnoredFields } from "./ignored-fields.ts";
export {
  type Actor,
  type AuditAction,
  AuditRecord,
  auditActions,
  auditActorKinds,
} from "./audit.ts";
export { isAddressOrCidr } from "./cidr.ts";
export { hashSecret, isApiKey, generateApiKey, apiKeyPrefixLength } from "./api-key.ts";
export {
  type Catalogue,
  type CatalogueToken,
  createCatalogue,
  getChainMode,
  isTestModeAvailable,
  loadCatalogue,
  requireModeAvailable,
  serializeToken,
} from "./catalogue.ts";
export { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
export { devnetSeed } from "./catalogue-seed.ts";
export { devnet } from "./devnet.ts";
export { type EmailSender, SmtpFrom, isEmailAddress } from "./email-address.ts";
export {
  type ChainAdvance,
  ConfirmationsByAmount,
  DepositState,
  DepositStatus,
  type EventType,
  LinkStatus,
  LinkTransaction,
  UnappliedTransaction,
  PaymentLinkState,
  PaymentStatus,
  SettlementState,
  type Topic,
  accountSnapshot,
  accountUpdated,
  type OwnerImages,
  ownerImagesSnapshot,
  ownerImagesUpdated,
  auditRecorded,
  chainAdvanced,
  depositOrphaned,
  depositSeen,
  depositSettled,
  depositUnmatched,
  depositStatuses,
  endpointFailing,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkEvents,
  linkSnapshot,
  bitcoinAddressesReserved,
  linkStatuses,
  linkTransactionSucceeded,
  linkTransactionUnapplied,
  paymentNotApplied,
  paymentReceived,
  paymentStatuses,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
  topicSettings,
  topicUsage,
  topics,
} from "./events.ts";
export {
  Id,
  type IdPrefix,
  createDeterministicId,
  uuidToId,
  isId,
  newId,
  idToUuid,
} from "./ids.ts";
export { Instant, parseInstant } from "./instant.ts";
export {
  IntrospectionResponse,
  IntrospectionRequest,
  type SessionService,
  sessionServices,
} from "./introspection.ts";
export { type NotificationKind, notificationKinds } from "./notification.ts";
export {
  ReceiptEmail,
  type ReceiptLanguage,
  ReceiptResult,
  type SendReceipt,
  receiptLanguages,
} from "./receipt.ts";
export { type RpcUrls, chainIdPattern, parseHosts, parseRpcUrls } from "./rpc-urls.ts";
export { parseJson } from "./json.ts";
export { LinkTexts, pickLinkTexts } from "./link-texts.ts";
export { Mode } from "./mode.ts";
export {
  Amount,
  Decimal,
  fitsBaseUnits,
  fitsDecimals,
  formatAmount,
  parseDecimal,
} from "./money.ts";
export {
  buildCheckoutPageUrl,
  buildOwnerImagePath,
  buildPictureUrl,
  buildTransactionPageUrl,
  findPicturePath,
  isPictureDigest,
} from "./pages.ts";
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
  type ApiErrorEntry,
  ApiError,
  type ApiErrorCode,
  apiErrorCodes,
  createApiError,
  createReauthenticationError,
  createWebhookUrlError,
  getApiErrorStatus,
} from "./api-error.ts";
export { type Scope, scopes } from "./scope.ts";
export { SignUp, getDefaultSignUp } from "./sign-up.ts";
export { getSmallestDeposit } from "./smallest-deposit.ts";
export {
  type FetchUsedAddresses,
  UsedAddresses,
  UsedAddressesRequest,
  requestedAddressesMax,
} from "./used-addresses.ts";
export {
  type FetchSolanaAccountState,
  SolanaAccountState,
  SolanaAccountStateRequest,
} from "./solana-account-state.ts";
export {
  type Parser,
  type ValidationCode,
  body,
  bool,
  optional,
  dateTime,
  futureDateTime,
  integer,
  createValidationError,
  list,
  nullable,
  oneOf,
  orNull,
  parameter,
  positiveDecimal,
  parseInput,
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
