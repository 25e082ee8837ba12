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
export {
  AssignDepositBody,
  type DepositData,
  DepositsFilter,
  DepositsQuery,
  depositDecisions,
  depositOperations,
  type likelihoods,
} from "./api/deposits.ts";
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
  SolanaTransactionBody,
  type CheckoutTransaction,
  FirstIndexBody,
  LinkStoryQuery,
  OwnLinksFilter,
  OwnLinksQuery,
  type OwnPaymentData,
  type PaymentData,
  type StoryEntry,
  checkoutOperations,
  consoleLinkOperations,
  type noInstructionsReasons,
  type paymentWays,
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
export type { AddressFault, AddressReading } from "./address-reading.ts";
export {
  type Actor,
  type AuditAction,
  AuditRecord,
  auditActions,
  auditActorKinds,
} from "./audit.ts";
export { isAddressOrCidr } from "./cidr.ts";
export { type ApiKeyMode, hashSecret, isApiKey, mintApiKey, shownKeyLength } from "./api-key.ts";
export {
  type BitcoinChainId,
  bitcoinScript,
  isBitcoinChainId,
  readBitcoinAddress,
} from "./bitcoin-address.ts";
export {
  type BitcoinKeyFault,
  bitcoinAddresses,
  bitcoinKeyId,
  isBitcoinDescriptor,
  readBitcoinKey,
} from "./bitcoin-key.ts";
export { bitcoinUri } from "./bitcoin-uri.ts";
export {
  type Catalogue,
  type CatalogueToken,
  createCatalogue,
  explorerUrl,
  openCatalogue,
  showToken,
} from "./catalogue.ts";
export { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
export { isSameAddress, readAddress } from "./chain-address.ts";
export { devnetSeed } from "./catalogue-seed.ts";
export { devnet } from "./devnet.ts";
export {
  type ChainAdvance,
  NeededByAmount,
  DepositState,
  DepositStatus,
  type EventType,
  LinkStatus,
  LinkTransaction,
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
  depositStatuses,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  bitcoinAddressesReserved,
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
export {
  IntrospectionAnswer,
  IntrospectionQuestion,
  type SessionService,
  sessionServices,
} from "./introspection.ts";
export { chainSource } from "./chain-source.ts";
export { type RpcUrls, chainIdForm, parseHosts, parseRpcUrls } from "./rpc-urls.ts";
export { mayBePrivateKey } from "./private-key.ts";
export { referenceHashOf } from "./reference-hash.ts";
export { parseJson } from "./json.ts";
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
  refusalCodes,
  refuse,
  refuseStale,
  statusOf,
} from "./refusal.ts";
export { type Scope, scopes } from "./scope.ts";
export {
  readBase58,
  readSolanaAddress,
  solanaReference,
  solanaReferenceHash,
} from "./solana-address.ts";
export { SignUp, defaultSignUp } from "./sign-up.ts";
export { smallestDeposit } from "./smallest-deposit.ts";
export { solanaTokenAccount, solanaTokenPrograms } from "./solana-token-account.ts";
export { solanaPayUrl, solanaRequestUrl } from "./solana-pay-url.ts";
export {
  type AskUsedAddresses,
  UsedAddresses,
  UsedAddressesQuestion,
  askedAddressesMax,
} from "./used-addresses.ts";
export { type AskSolana, SolanaFacts, SolanaFactsQuestion } from "./solana-facts.ts";
export { readTronAddress, tronFromHex, tronToHex } from "./tron-address.ts";
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
