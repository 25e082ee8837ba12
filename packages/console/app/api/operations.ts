// Made by `npm run generate` from the console's OpenAPI document. Change nothing here.
export type SignIn = { token?: string; siwe?: SignedSiweMessage; passkey?: PasskeyAnswer };
export type SignedSiweMessage = { message: string; signature: string };
export type PasskeyAnswer = { id: string; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } };
export type SignInLinkQuestion = { token: string };
export type PresenceProof = { token?: string; siwe?: SignedSiweMessage; passkey?: PasskeyAnswer };
export type IdentityProof = { siwe: SignedSiweMessage };
export type NewPasskey = { name: string; passkey: { id: string; response: { clientDataJSON: string; attestationObject: string } } };
export type PasskeyChange = { name: string };
export type AccountChange = { handle?: string; username?: string; bio?: string | null; profileImage?: string | null; backgroundImage?: string | null; backgroundColour?: string | null; links?: (string)[] | null; returnUrl?: string | null };
export type NotificationsChange = { payment_received?: boolean; attention_needed?: boolean; endpoint_failing?: boolean; new_sign_in?: boolean; new_wallet?: boolean };
export type NotificationAddress = { address: string };
export type NotificationAddressConfirmation = { token: string };
export type NewWallet = { walletAddress: string; tokenId: string; firstAddressIndex?: number | null; isDefault?: boolean | null };
export type WalletChange = { isDefault?: boolean; isChainDefault?: boolean };
export type NewApiKey = { name: string; scopes: ("payment_link:create" | "payment_link:read")[]; expiresAt?: string | null; cidrs?: (string)[] | null; requestsPerMinute?: number | null; burst?: number | null; mode?: "live" | "test" | null };
export type ApiKeyChange = { active?: boolean; requestsPerMinute?: number | null; burst?: number | null };
export type ApiKeyRotation = { overlapSeconds?: number | null };
export type CommandSignInAllowance = { scopes: ("payment_link:create" | "payment_link:read")[] };
export type NewPaymentLink = { toAmount: string | number; description?: string | null; maxUsage?: number | null; expirationDate?: string | null };
export type FirstAddressIndexQuestion = { walletAddress: string; tokenId: string };
export type RefundRecord = { paymentId: string; amount: string | number; destinationAddress: string; transactionId: string };
export type RefundQuestion = { paymentId: string; amount: string | number; destinationAddress: string; account?: string | null };
export type NewWebhookEndpoint = { url: string; name: string; mode?: "live" | "test" | null };
export type WebhookEndpointChange = { url?: never; name?: string; enabled?: boolean };
export type OwnAccount = { id: string; handle: string | null; username: string; bio: string | null; profileImage: string | null; backgroundImage: string | null; backgroundColour: string | null; links: (string)[] | null; returnUrl: string | null; dateCreated: string; isReady: boolean; isTestReady: boolean; testModeAvailable: boolean };
export type Errors = { errors: ({ message: string; code: string; methods?: (string)[] })[] };
export type SignInLinkOwner = { handle: string | null; username: string };
export type SignInMethods = { methods: ("link" | "siwe" | "oidc" | "passkey")[] };
export type Nonce = { nonce: string; message?: string };
export type PasskeyRequest = { challenge: string; rpId: string; timeout: number; userVerification: "required" };
export type SessionList = { data: (SessionData)[] };
export type SessionData = { id: string; method: "link" | "siwe" | "oidc" | "passkey"; dateCreated: string; lastSeenAt: string; expiresAt: string; device: string | null; isCurrent: boolean };
export type IdentityList = { data: (IdentityData)[] };
export type IdentityData = { id: string; method: "siwe" | "oidc"; issuer: string; subject: string; dateCreated: string };
export type PasskeyList = { data: (PasskeyData)[] };
export type PasskeyData = { id: string; name: string; dateCreated: string; lastUsedAt: string | null };
export type PasskeyCreation = { challenge: string; rp: { id: string; name: string }; user: { id: string; name: string; displayName: string }; pubKeyCredParams: ({ type: "public-key"; alg: number })[]; excludeCredentials: ({ type: "public-key"; id: string })[]; authenticatorSelection: { residentKey: "required"; requireResidentKey: true; userVerification: "required" }; attestation: "none"; timeout: number };
export type NotificationSettings = { isAvailable: boolean; address: string | null; pendingAddress: string | null; kinds: { payment_received: boolean; attention_needed: boolean; endpoint_failing: boolean; new_sign_in: boolean; new_wallet: boolean } };
export type AuditPage = { data: (AuditEntry)[]; limit: number; offset: number; nextOffset: number | null };
export type AuditEntry = { id: string; action: string; actor: { kind: string; id: string | null }; method: string | null; targetId: string | null; detail: Record<string, unknown>; address: string | null; userAgent: string | null; dateCreated: string };
export type TokenList = { data: (CatalogueEntry)[] };
export type CatalogueEntry = { id: string; token: TokenData; walletForm: "address" | "hex_address" | "key"; mode: "live" | "test" };
export type TokenData = { address: string; decimals: number; symbol: string; name: string; logo: string | null; isNative: boolean | null; isStablecoin: boolean | null; currencyCode: string | null; commodityCode: string | null; chain: ChainData; priceUsd: string | null; isVerified: boolean | null };
export type ChainData = { id: string; name: string; symbol: string; chainType: "EVM" | "SVM" | "TVM" | "BVM"; logo: string };
export type WalletList = { data: (OwnWallet)[] };
export type OwnWallet = { id: string; walletAddress: string; token: { id: string; token: TokenData }; chainType: "EVM" | "SVM" | "TVM" | "BVM"; isDefault: boolean; isChainDefault: boolean; provider: string | null; mode: "live" | "test"; firstAddresses: (string)[] | null; firstAddressIndex: number | null; defaultAt: string | null };
export type ApiKeyList = { data: (ApiKeyData)[] };
export type ApiKeyData = { id: string; name: string; prefix: string; mode: "live" | "test"; scopes: (string)[]; cidrs: (string)[] | null; requestsPerMinute: number | null; burst: number | null; expiresAt: string | null; active: boolean; replacedBy: string | null; dateCreated: string; lastUsedAt: string | null; lastUsedAddress: string | null };
export type IssuedApiKey = { id: string; name: string; prefix: string; mode: "live" | "test"; scopes: (string)[]; cidrs: (string)[] | null; requestsPerMinute: number | null; burst: number | null; expiresAt: string | null; active: boolean; replacedBy: string | null; dateCreated: string; lastUsedAt: string | null; lastUsedAddress: string | null; key: string };
export type PendingCommandSignIn = { deviceName: string; mode: "live" | "test"; address: string | null; dateCreated: string; expiresAt: string };
export type Overview = { received: ({ day: string; tokenId: string; amount: string; paymentCount: number })[]; tokens: ({ id: string; token: TokenData })[]; links: { active: BoundedCount; completed: BoundedCount; inactive: BoundedCount }; unapplied: { count: number; hasMore: boolean; payments: (OwnPaymentData)[] }; recentPayments: (RecentPayment)[] };
export type BoundedCount = { count: number; hasMore: boolean };
export type OwnPaymentData = { id: string; status: "processing" | "settled" | "failed"; applied: boolean; reason: "duplicate" | "conflict" | "wrong_token" | "wrong_destination" | "wrong_amount" | "completed" | "expired" | "inactive" | null; amount: string; tokenAddress: string; chainId: string; sourceTransaction: string | null; dateCreated: string; duplicateOf?: string; orphaned?: true; simulated?: true; sender: string | null; token?: TokenData; transactionUrl: string | null; paymentLinkId: string };
export type RecentPayment = { id: string; status: "processing" | "settled" | "failed"; applied: boolean; reason: "duplicate" | "conflict" | "wrong_token" | "wrong_destination" | "wrong_amount" | "completed" | "expired" | "inactive" | null; amount: string; tokenAddress: string; chainId: string; sourceTransaction: string | null; dateCreated: string; duplicateOf?: string; orphaned?: true; simulated?: true; sender: string | null; token: TokenData | null; transactionUrl: string | null; paymentLinkId: string; description: string | null };
export type OwnPaymentLinkPage = { data: (OwnPaymentLinkData)[]; limit: number; offset: number; nextOffset: number | null; nextBefore: string | null };
export type OwnPaymentLinkData = { id: string; userId: string; toAmount: string; destinationAddress: string; url: string; dateCreated: string; token: TokenData; status: "active" | "completed" | "inactive"; description: string | null; maxUsage: number | null; receivedAmount: string; expirationDate: string | null; transactionUrl: string | null; inactiveReason: "expired" | "deactivated" | null; mode: "live" | "test" };
export type PaymentLinkCreationData = { id: string; url: string };
export type FirstAddressIndexSuggestion = { firstAddressIndex: number; isChecked: boolean };
export type IgnoredFields = { keyId: string; names: (string)[]; seenAt: string };
export type OwnPaymentLink = { id: string; userId: string; toAmount: string; destinationAddress: string; url: string; dateCreated: string; token: TokenData; status: "active" | "completed" | "inactive"; description: string | null; maxUsage: number | null; receivedAmount: string; expirationDate: string | null; transactionUrl: string | null; inactiveReason: "expired" | "deactivated" | null; mode: "live" | "test"; payments: (PaymentData)[]; refunds: (RefundData)[]; addressGap: number | null; unsendableRemainder?: { amount: string; smallestPayment: string } };
export type PaymentData = { id: string; status: "processing" | "settled" | "failed"; applied: boolean; reason: "duplicate" | "conflict" | "wrong_token" | "wrong_destination" | "wrong_amount" | "completed" | "expired" | "inactive" | null; amount: string; tokenAddress: string; chainId: string; sourceTransaction: string | null; dateCreated: string; duplicateOf?: string; orphaned?: true; simulated?: true; sender: string | null; token?: TokenData; transactionUrl: string | null };
export type RefundData = { id: string; paymentId: string; amount: string; tokenAddress: string; chainId: string; destinationAddress: string; transactionId: string; transactionUrl: string | null; dateCreated: string };
export type PaymentPage = { data: (PaymentData)[]; limit: number; offset: number; nextOffset: number | null };
export type LinkStory = { data: (StoryEntry)[]; nextAfter: string | null };
export type StoryEntry = { kind: "created" | "expired" | "payment_seen" | "payment_ended" | "completed" | "deactivated" | "payment_orphaned" | "refund_recorded"; at: string | null; by: { kind: "api_key" | "session"; id: string } | null; payment: PaymentData | null; refund: RefundData | null };
export type PaymentLinkData = { id: string; userId: string; toAmount: string; destinationAddress: string; url: string; dateCreated: string; token: TokenData; status: "active" | "completed" | "inactive"; description: string | null; maxUsage: number | null; receivedAmount: string; expirationDate: string | null; transactionUrl: string | null };
export type RefundInstructions = { destinationAddress: string; amount: string; wallet: "EIP-1193" | "TronWeb" | "wallet-standard" | "none"; chain: string | null; call: { to: string; value: string; data: string; rpcUrl: string | null; tron?: { functionSelector: string; parameter: string; energyMax: number; feeLimit: string } } | null; transaction: string | null; uri: string | null };
export type DepositPage = { data: (DepositData)[]; limit: number; offset: number; nextOffset: number | null };
export type DepositData = { id: string; mode: "live" | "test"; status: "seen" | "settled" | "orphaned"; decision: "unmatched" | "assigned" | "dismissed"; amount: string; token: TokenData | null; lookalikeOf: string | null; tokenAddress: string; chainId: string; destinationAddress: string; sender: string | null; sourceTransaction: string; transactionUrl: string | null; dateOnChain: string; dateCreated: string; dateDecided: string | null; paymentLinkId: string | null; paymentId: string | null; countedAs?: { paymentId: string; paymentLinkId: string }; likelyLinks: (LikelyLink)[] };
export type LikelyLink = { id: string; toAmount: string; remainingAmount: string; description: string | null; dateCreated: string; reasons: ("amount" | "sender" | "time")[] };
export type AssignedDeposit = { deposit: DepositData; payment: PaymentData };
export type WebhookEndpointList = { data: (ListedWebhookEndpoint)[]; headerPrefix: string };
export type ListedWebhookEndpoint = { id: string; url: string; name: string; mode: "live" | "test"; enabled: boolean; secretPrefix: string; dateCreated: string; lastOutcome: "Delivered" | "Failed" | null; consecutiveFailures: number; recent: (RecentHour)[] };
export type RecentHour = { hour: string; delivered: number; failed: number };
export type CreatedWebhookEndpoint = { id: string; url: string; name: string; mode: "live" | "test"; enabled: boolean; secretPrefix: string; dateCreated: string; lastOutcome: "Delivered" | "Failed" | null; consecutiveFailures: number; secret: string };
export type WebhookEndpointData = { id: string; url: string; name: string; mode: "live" | "test"; enabled: boolean; secretPrefix: string; dateCreated: string; lastOutcome: "Delivered" | "Failed" | null; consecutiveFailures: number };
export type DeliveryPage = { data: (DeliveryData)[]; limit: number; offset: number; nextOffset: number | null };
export type DeliveryData = { id: string; eventType: string; linkId: string | null; paymentId: string | null; status: "Pending" | "Delivered" | "Failed"; attempts: number; httpStatus: number | null; error: string | null; dateCreated: string; lastAttemptAt: string | null; nextAttemptAt: string | null };
export type DeliveryDetail = { id: string; eventType: string; linkId: string | null; paymentId: string | null; status: "Pending" | "Delivered" | "Failed"; attempts: number; httpStatus: number | null; error: string | null; dateCreated: string; lastAttemptAt: string | null; nextAttemptAt: string | null; attemptLog: (DeliveryAttempt)[]; request: DeliveryRequest | null };
export type DeliveryAttempt = { number: number; startedAt: string; durationMs: number | null; httpStatus: number | null; error: string | null };
export type DeliveryRequest = { url: string; headers: ({ name: string; value: string })[]; body: string };
export type LinkDeliveryPage = { data: (LinkDeliveryData)[]; limit: number; offset: number; nextOffset: number | null };
export type LinkDeliveryData = { id: string; eventType: string; linkId: string | null; paymentId: string | null; status: "Pending" | "Delivered" | "Failed"; attempts: number; httpStatus: number | null; error: string | null; dateCreated: string; lastAttemptAt: string | null; nextAttemptAt: string | null; endpointId: string; endpointName: string };
export type ApiErrorCode = "429" | "BAD_REQUEST" | "UNAUTHENTICATED" | "REAUTHENTICATION_REQUIRED" | "INVALID_API_KEY" | "EXPIRED_API_KEY" | "INVALID_SIGN_IN_TOKEN" | "INVALID_SIWE_MESSAGE" | "INVALID_PASSKEY" | "OIDC_SIGN_IN_REFUSED" | "INVALID_SIGNATURE" | "INSUFFICIENT_API_SCOPE" | "CROSS_SITE_REQUEST" | "TEST_KEY_REQUIRED" | "API_KEY_ADDRESS_REFUSED" | "ACCOUNT_SUSPENDED" | "REAUTHENTICATION_MISMATCH" | "SIGN_UP_CLOSED" | "FORBIDDEN" | "CANNOT_FIND_PAYMENT_LINK" | "NOT_FOUND" | "SIGN_IN_METHOD_UNAVAILABLE" | "EMAIL_UNAVAILABLE" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "PAYMENT_LINK_ACCOUNT_NOT_READY" | "TEST_MODE_UNAVAILABLE" | "PAYMENT_SIMULATED" | "PAYMENT_LINK_NOT_ACTIVE" | "PAYMENT_SEEN" | "PAYER_IS_OWNER" | "BALANCE_TOO_LOW" | "DEPOSIT_ALREADY_ASSIGNED" | "DEPOSIT_ALREADY_APPLIED" | "DEPOSIT_NOT_SETTLED" | "DEPOSIT_ORPHANED" | "DEPOSIT_WRONG_TOKEN" | "DEPOSIT_WRONG_DESTINATION" | "IDEMPOTENCY_KEY_IN_USE" | "HANDLE_TAKEN" | "HANDLE_LIMIT" | "WALLET_EXISTS" | "WALLET_LIMIT" | "API_KEY_LIMIT" | "API_KEY_NOT_ACTIVE" | "API_KEY_REPLACED" | "IDENTITY_TAKEN" | "IDENTITY_LIMIT" | "PASSKEY_EXISTS" | "PASSKEY_LIMIT" | "LAST_WAY_IN" | "WEBHOOK_ENDPOINT_LIMIT" | "WEBHOOK_LISTENER_LIMIT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_CONTENT_ENCODING" | "AUDIT_LOG_TOO_LONG" | "INVALID_PAYMENT_LINK_AMOUNT" | "AMOUNT_NOT_PAYABLE" | "INVALID_HANDLE" | "INVALID_WALLET_ADDRESS" | "SOLANA_WALLET_REQUIRED" | "BITCOIN_KEY_REQUIRED" | "INVALID_TRANSACTION_ID" | "PRIVATE_KEY_REFUSED" | "INVALID_WEBHOOK_URL" | "INVALID_IMAGE" | "IMAGE_TOO_MANY_PIXELS" | "INVALID_CONFIRMATION_TOKEN" | "IDEMPOTENCY_KEY_INVALID" | "IDEMPOTENCY_KEY_REUSED" | "REQUEST_HEADERS_TOO_LARGE" | "CANNOT_CREATE_PAYMENT_LINK" | "INTERNAL_ERROR" | "SIWE_CHAIN_UNAVAILABLE" | "OIDC_ISSUER_UNAVAILABLE" | "SERVICE_UNAVAILABLE";
export type ValidationCode = "missing" | "json_invalid" | "model_attributes_type" | "decimal_type" | "decimal_parsing" | "decimal_max_digits" | "decimal_max_places" | "finite_number" | "greater_than" | "greater_than_equal" | "less_than_equal" | "string_type" | "string_too_long" | "string_too_short" | "string_pattern_mismatch" | "int_type" | "int_parsing" | "int_from_float" | "bool_type" | "list_type" | "too_long" | "too_short" | "datetime_type" | "datetime_from_date_parsing" | "datetime_future" | "enum" | "url_parsing" | "url_scheme" | "no_update";
export type AuditAction = "account.created" | "account.changed" | "account.suspended" | "account.resumed" | "account.verified" | "account.unverified" | "account.credentials_revoked" | "account.email_requested" | "account.email_confirmed" | "account.email_removed" | "account.notifications_changed" | "wallet.added" | "wallet.changed" | "wallet.deleted" | "wallet.default_scheduled" | "wallet.default_cancelled" | "api_key.created" | "api_key.activated" | "api_key.deactivated" | "api_key.limited" | "api_key.revoked" | "api_key.rotated" | "api_key.leaked" | "identity.linked" | "identity.unlinked" | "passkey.added" | "passkey.renamed" | "passkey.removed" | "sign_in_link.made" | "session.started" | "session.presence_proven" | "session.presence_refused" | "session.refused" | "session.ended" | "session.revoked" | "command_sign_in.allowed" | "command_sign_in.denied" | "payment_link.created" | "payment_link.deactivated" | "payment_link.refund_recorded" | "deposit.assigned" | "deposit.dismissed" | "webhook_endpoint.added" | "webhook_endpoint.changed" | "webhook_endpoint.deleted" | "webhook_endpoint.secret_shown";
export type AuditActorKind = "operator" | "session" | "visitor" | "scanner" | "service";
/** The input and response of each operation. */
export type Operations = {
  signIn: { input: { body: SignIn }; response: OwnAccount };
  getSession: { input: {}; response: OwnAccount };
  signOut: { input: {}; response: undefined };
  askAboutSignInLink: { input: { body: SignInLinkQuestion }; response: SignInLinkOwner };
  listSignInMethods: { input: {}; response: SignInMethods };
  getNonce: { input: { query?: { "address"?: string | undefined } }; response: Nonce };
  getPasskeyRequest: { input: {}; response: PasskeyRequest };
  startOidc: { input: { query?: { "link"?: "true" | "false" | undefined; "prove"?: "true" | "false" | undefined } }; response: undefined };
  finishOidc: { input: {}; response: undefined };
  provePresence: { input: { body: PresenceProof }; response: undefined };
  listSessions: { input: {}; response: SessionList };
  revokeOtherSessions: { input: {}; response: undefined };
  revokeSession: { input: { path: { "id": string } }; response: undefined };
  listIdentities: { input: {}; response: IdentityList };
  linkIdentity: { input: { body: IdentityProof }; response: IdentityData };
  unlinkIdentity: { input: { path: { "id": string } }; response: undefined };
  listPasskeys: { input: {}; response: PasskeyList };
  addPasskey: { input: { body: NewPasskey }; response: PasskeyData };
  getPasskeyCreation: { input: {}; response: PasskeyCreation };
  changePasskey: { input: { path: { "id": string }; body: PasskeyChange }; response: PasskeyData };
  removePasskey: { input: { path: { "id": string } }; response: undefined };
  getAccount: { input: {}; response: OwnAccount };
  changeAccount: { input: { body: AccountChange }; response: OwnAccount };
  uploadProfilePicture: { input: { body: Blob }; response: OwnAccount };
  getNotifications: { input: {}; response: NotificationSettings };
  changeNotifications: { input: { body: NotificationsChange }; response: NotificationSettings };
  setNotificationAddress: { input: { body: NotificationAddress }; response: NotificationSettings };
  removeNotificationAddress: { input: {}; response: NotificationSettings };
  confirmNotificationAddress: { input: { body: NotificationAddressConfirmation }; response: NotificationSettings };
  listAuditLog: { input: { query?: { "action"?: string | undefined; "actor"?: string | undefined; "target"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "offset"?: number | undefined } }; response: AuditPage };
  exportAuditLog: { input: { query?: { "action"?: string | undefined; "actor"?: string | undefined; "target"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "format"?: "csv" | "jsonl" | undefined } }; response: undefined };
  listTokens: { input: {}; response: TokenList };
  listWallets: { input: {}; response: WalletList };
  addWallet: { input: { body: NewWallet }; response: OwnWallet };
  changeWallet: { input: { path: { "id": string }; body: WalletChange }; response: OwnWallet };
  deleteWallet: { input: { path: { "id": string } }; response: undefined };
  listApiKeys: { input: {}; response: ApiKeyList };
  createApiKey: { input: { body: NewApiKey }; response: IssuedApiKey };
  changeApiKey: { input: { path: { "id": string }; body: ApiKeyChange }; response: ApiKeyData };
  revokeApiKey: { input: { path: { "id": string } }; response: undefined };
  rotateApiKey: { input: { path: { "id": string }; body: ApiKeyRotation }; response: IssuedApiKey };
  getCommandSignIn: { input: { path: { "code": string } }; response: PendingCommandSignIn };
  allowCommandSignIn: { input: { path: { "code": string }; body: CommandSignInAllowance }; response: undefined };
  denyCommandSignIn: { input: { path: { "code": string } }; response: undefined };
  getOverview: { input: { query?: { "days"?: number | undefined; "mode"?: "live" | "test" | undefined } }; response: Overview };
  listOwnPaymentLinks: { input: { query?: { "status"?: "active" | "completed" | "inactive" | undefined; "inactiveReason"?: "expired" | "deactivated" | undefined; "q"?: string | undefined; "token"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "mode"?: "live" | "test" | undefined; "before"?: string | undefined; "offset"?: number | undefined } }; response: OwnPaymentLinkPage };
  createOwnPaymentLink: { input: { query?: { "mode"?: "live" | "test" | undefined }; header?: { "Idempotency-Key"?: string | undefined }; body: NewPaymentLink }; response: PaymentLinkCreationData };
  suggestFirstAddressIndex: { input: { body: FirstAddressIndexQuestion }; response: FirstAddressIndexSuggestion };
  listIgnoredFields: { input: { query?: { "mode"?: "live" | "test" | undefined } }; response: { data: (IgnoredFields)[] } };
  getOwnPaymentLink: { input: { path: { "id": string } }; response: OwnPaymentLink };
  listPayments: { input: { path: { "id": string }; query?: { "offset"?: number | undefined } }; response: PaymentPage };
  getPaymentLinkStory: { input: { path: { "id": string }; query?: { "order"?: "asc" | "desc" | undefined; "after"?: string | undefined } }; response: LinkStory };
  deactivatePaymentLink: { input: { path: { "id": string } }; response: PaymentLinkData };
  recordRefund: { input: { path: { "id": string }; body: RefundRecord }; response: RefundData };
  prepareRefund: { input: { path: { "id": string }; body: RefundQuestion }; response: RefundInstructions };
  exportOwnPaymentLinks: { input: { query?: { "status"?: "active" | "completed" | "inactive" | undefined; "inactiveReason"?: "expired" | "deactivated" | undefined; "q"?: string | undefined; "token"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "mode"?: "live" | "test" | undefined } }; response: undefined };
  exportOwnPayments: { input: { query?: { "link"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "mode"?: "live" | "test" | undefined } }; response: undefined };
  listDeposits: { input: { query?: { "decision"?: "unmatched" | "assigned" | "dismissed" | undefined; "mode"?: "live" | "test" | undefined; "offset"?: number | undefined } }; response: DepositPage };
  assignDeposit: { input: { path: { "id": string }; body: { paymentLinkId: string } }; response: AssignedDeposit };
  dismissDeposit: { input: { path: { "id": string } }; response: DepositData };
  exportDeposits: { input: { query?: { "decision"?: "unmatched" | "assigned" | "dismissed" | undefined; "mode"?: "live" | "test" | undefined } }; response: undefined };
  listWebhookEndpoints: { input: {}; response: WebhookEndpointList };
  createWebhookEndpoint: { input: { body: NewWebhookEndpoint }; response: CreatedWebhookEndpoint };
  changeWebhookEndpoint: { input: { path: { "id": string }; body: WebhookEndpointChange }; response: WebhookEndpointData };
  deleteWebhookEndpoint: { input: { path: { "id": string } }; response: undefined };
  listDeliveries: { input: { path: { "id": string }; query?: { "status"?: "Pending" | "Delivered" | "Failed" | undefined; "eventType"?: "payment_link.transaction.succeeded" | "payment_link.completed" | "payment_link.transaction.unapplied" | undefined; "offset"?: number | undefined } }; response: DeliveryPage };
  getDelivery: { input: { path: { "id": string; "deliveryId": string } }; response: DeliveryDetail };
  listLinkDeliveries: { input: { query: { "linkId": string; "mode"?: "live" | "test" | undefined; "offset"?: number | undefined } }; response: LinkDeliveryPage };
};
/** Where each operation is found. */
export const operations = {
  signIn: ["POST", "/console/api/session"],
  getSession: ["GET", "/console/api/session"],
  signOut: ["DELETE", "/console/api/session"],
  askAboutSignInLink: ["POST", "/console/api/session/link"],
  listSignInMethods: ["GET", "/console/api/session/methods"],
  getNonce: ["GET", "/console/api/session/nonce"],
  getPasskeyRequest: ["GET", "/console/api/session/passkey"],
  startOidc: ["GET", "/console/api/session/oidc"],
  finishOidc: ["GET", "/console/api/session/oidc/callback"],
  provePresence: ["POST", "/console/api/session/presence"],
  listSessions: ["GET", "/console/api/sessions"],
  revokeOtherSessions: ["DELETE", "/console/api/sessions"],
  revokeSession: ["DELETE", "/console/api/sessions/{id}"],
  listIdentities: ["GET", "/console/api/identities"],
  linkIdentity: ["POST", "/console/api/identities"],
  unlinkIdentity: ["DELETE", "/console/api/identities/{id}"],
  listPasskeys: ["GET", "/console/api/passkeys"],
  addPasskey: ["POST", "/console/api/passkeys"],
  getPasskeyCreation: ["GET", "/console/api/passkeys/creation"],
  changePasskey: ["PATCH", "/console/api/passkeys/{id}"],
  removePasskey: ["DELETE", "/console/api/passkeys/{id}"],
  getAccount: ["GET", "/console/api/account"],
  changeAccount: ["PATCH", "/console/api/account"],
  uploadProfilePicture: ["POST", "/console/api/account/picture"],
  getNotifications: ["GET", "/console/api/account/notifications"],
  changeNotifications: ["PATCH", "/console/api/account/notifications"],
  setNotificationAddress: ["POST", "/console/api/account/notifications/address"],
  removeNotificationAddress: ["DELETE", "/console/api/account/notifications/address"],
  confirmNotificationAddress: ["POST", "/console/api/account/notifications/address/confirm"],
  listAuditLog: ["GET", "/console/api/audit-log"],
  exportAuditLog: ["GET", "/console/api/audit-log/export"],
  listTokens: ["GET", "/console/api/tokens"],
  listWallets: ["GET", "/console/api/wallets"],
  addWallet: ["POST", "/console/api/wallets"],
  changeWallet: ["PATCH", "/console/api/wallets/{id}"],
  deleteWallet: ["DELETE", "/console/api/wallets/{id}"],
  listApiKeys: ["GET", "/console/api/api-keys"],
  createApiKey: ["POST", "/console/api/api-keys"],
  changeApiKey: ["PATCH", "/console/api/api-keys/{id}"],
  revokeApiKey: ["DELETE", "/console/api/api-keys/{id}"],
  rotateApiKey: ["POST", "/console/api/api-keys/{id}/rotate"],
  getCommandSignIn: ["GET", "/console/api/api-keys/sign-ins/{code}"],
  allowCommandSignIn: ["POST", "/console/api/api-keys/sign-ins/{code}/allow"],
  denyCommandSignIn: ["POST", "/console/api/api-keys/sign-ins/{code}/deny"],
  getOverview: ["GET", "/console/api/overview"],
  listOwnPaymentLinks: ["GET", "/console/api/payment-links"],
  createOwnPaymentLink: ["POST", "/console/api/payment-links"],
  suggestFirstAddressIndex: ["POST", "/console/api/payment-links/first-address-index"],
  listIgnoredFields: ["GET", "/console/api/payment-links/ignored-fields"],
  getOwnPaymentLink: ["GET", "/console/api/payment-links/{id}"],
  listPayments: ["GET", "/console/api/payment-links/{id}/payments"],
  getPaymentLinkStory: ["GET", "/console/api/payment-links/{id}/story"],
  deactivatePaymentLink: ["POST", "/console/api/payment-links/{id}/deactivate"],
  recordRefund: ["POST", "/console/api/payment-links/{id}/refunds"],
  prepareRefund: ["POST", "/console/api/payment-links/{id}/refund-instructions"],
  exportOwnPaymentLinks: ["GET", "/console/api/payment-links.csv"],
  exportOwnPayments: ["GET", "/console/api/payments.csv"],
  listDeposits: ["GET", "/console/api/deposits"],
  assignDeposit: ["POST", "/console/api/deposits/{id}/assign"],
  dismissDeposit: ["POST", "/console/api/deposits/{id}/dismiss"],
  exportDeposits: ["GET", "/console/api/deposits.csv"],
  listWebhookEndpoints: ["GET", "/console/api/webhook-endpoints"],
  createWebhookEndpoint: ["POST", "/console/api/webhook-endpoints"],
  changeWebhookEndpoint: ["PATCH", "/console/api/webhook-endpoints/{id}"],
  deleteWebhookEndpoint: ["DELETE", "/console/api/webhook-endpoints/{id}"],
  listDeliveries: ["GET", "/console/api/webhook-endpoints/{id}/deliveries"],
  getDelivery: ["GET", "/console/api/webhook-endpoints/{id}/deliveries/{deliveryId}"],
  listLinkDeliveries: ["GET", "/console/api/webhook-deliveries"],
} as const satisfies Record<keyof Operations, readonly [string, string]>;
