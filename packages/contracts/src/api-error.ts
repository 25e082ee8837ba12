/** Every error code that an API response can contain, with its status and message (rule ERROR-2). */
const apiErrorDefinitions = {
  BAD_REQUEST: [400, "The HTTP request is not valid."],
  UNAUTHENTICATED: [401, "Authentication is required."],
  REAUTHENTICATION_REQUIRED: [401, "Confirm your identity, then try again."],
  INVALID_API_KEY: [401, "The API key is not valid."],
  EXPIRED_API_KEY: [401, "The API key has expired."],
  INVALID_SIGN_IN_TOKEN: [401, "The sign-in link is not valid or has been used."],
  INVALID_SIWE_MESSAGE: [401, "The sign-in message or its signature is invalid or has expired."],
  INVALID_PASSKEY: [401, "The passkey's response is invalid or has expired."],
  OIDC_SIGN_IN_REFUSED: [401, "The identity provider did not confirm this sign-in."],
  INVALID_SIGNATURE: [401, "The signature is missing, too old or invalid."],
  INSUFFICIENT_API_SCOPE: [403, "The API key does not have the scope that this operation needs."],
  CROSS_SITE_REQUEST: [403, "Requests from another site are not allowed."],
  TEST_KEY_REQUIRED: [403, "This operation needs a test key."],
  API_KEY_ADDRESS_REFUSED: [403, "The API key cannot be used from this IP address."],
  ACCOUNT_SUSPENDED: [403, "The account is suspended."],
  REAUTHENTICATION_MISMATCH: [403, "This sign-in method belongs to a different account."],
  SIGN_UP_CLOSED: [403, "No account exists for this sign-in, and sign-up is closed."],
  FORBIDDEN: [403, "This request is not allowed."],
  CANNOT_FIND_PAYMENT_LINK: [404, "The payment link cannot be found."],
  NOT_FOUND: [404, "The resource was not found."],
  SIGN_IN_METHOD_UNAVAILABLE: [404, "This sign-in method is not available."],
  EMAIL_UNAVAILABLE: [404, "This installation does not send email."],
  METHOD_NOT_ALLOWED: [405, "This path does not support the HTTP method."],
  REQUEST_TIMEOUT: [408, "The request took too long to arrive."],
  PAYMENT_LINK_ACCOUNT_NOT_READY: [409, "The account needs a handle and a default wallet first."],
  TEST_MODE_UNAVAILABLE: [409, "This installation has no test network, so it has no test mode."],
  PAYMENT_SIMULATED: [409, "The payment is simulated, so there is no money to refund."],
  PAYMENT_LINK_NOT_ACTIVE: [409, "The payment link is not active."],
  PAYMENT_SEEN: [409, "A payment was detected and is being confirmed. Do not pay again."],
  PAYER_IS_OWNER: [409, "This account receives the payment. Pay from another account."],
  BALANCE_TOO_LOW: [409, "The account's balance is lower than the amount."],
  DEPOSIT_ALREADY_ASSIGNED: [409, "The deposit is already assigned to a payment link."],
  DEPOSIT_ALREADY_APPLIED: [409, "This transfer is already applied to a payment link."],
  DEPOSIT_NOT_SETTLED: [409, "The deposit has not settled yet. Try again after it settles."],
  DEPOSIT_ORPHANED: [409, "The network reversed this deposit, so you no longer have the money."],
  DEPOSIT_WRONG_TOKEN: [409, "The payment link requires a different token or chain."],
  DEPOSIT_WRONG_DESTINATION: [409, "The payment link has a different destination address."],
  IDEMPOTENCY_KEY_IN_USE: [409, "The first request with this idempotency key is still running."],
  HANDLE_TAKEN: [409, "The handle belongs to another account."],
  HANDLE_LIMIT: [409, "The account has used the maximum number of handles."],
  WALLET_EXISTS: [409, "This wallet is already registered for this token."],
  WALLET_LIMIT: [409, "The account has the maximum number of wallets."],
  API_KEY_LIMIT: [409, "The account has the maximum number of API keys."],
  API_KEY_NOT_ACTIVE: [409, "The API key is deactivated or has expired."],
  API_KEY_REPLACED: [409, "The API key has already been replaced by another one."],
  IDENTITY_TAKEN: [409, "This identity is linked to another account."],
  IDENTITY_LIMIT: [409, "The account has the maximum number of identities."],
  PASSKEY_EXISTS: [409, "This passkey is already registered."],
  PASSKEY_LIMIT: [409, "The account has the maximum number of passkeys."],
  LAST_WAY_IN: [409, "This is the account's last sign-in method. Add another one first."],
  WEBHOOK_ENDPOINT_LIMIT: [409, "The account has the maximum of 5 webhook endpoints in this mode."],
  WEBHOOK_LISTENER_LIMIT: [409, "The account has the maximum of 3 webhook listeners in this mode."],
  PAYLOAD_TOO_LARGE: [413, "The body exceeds 64 KiB or 2,000 JSON values (an image: 2 MiB)."],
  UNSUPPORTED_CONTENT_ENCODING: [415, "The request body must not be compressed."],
  AUDIT_LOG_TOO_LONG: [422, "The export has more than 100,000 entries. Select a shorter period."],
  INVALID_PAYMENT_LINK_AMOUNT: [422, "The amount has more decimals than the token allows."],
  AMOUNT_NOT_PAYABLE: [422, "The chain cannot send this amount. The minimum is 0.00000546 BTC."],
  INVALID_HANDLE: [422, "Use 3 to 30 characters of a-z, 0-9 and _, and no reserved word."],
  INVALID_WALLET_ADDRESS: [422, "The address is not valid on the token's chain."],
  SOLANA_WALLET_REQUIRED: [422, "This is a token account or a mint. Enter a wallet address."],
  BITCOIN_KEY_REQUIRED: [422, "Bitcoin requires an extended public key, not a single address."],
  INVALID_TRANSACTION_ID: [422, "The text is not a transaction ID of this chain."],
  PRIVATE_KEY_REFUSED: [422, "This may be a private key. It was not saved. Never share it."],
  INVALID_WEBHOOK_URL: [422, "The URL must be a public https address without a port."],
  INVALID_IMAGE: [422, "The file is damaged or not a PNG, JPEG, WebP or GIF image."],
  IMAGE_TOO_MANY_PIXELS: [422, "The image has over 12 million pixels, or a side over 16,383."],
  INVALID_CONFIRMATION_TOKEN: [422, "The confirmation link is not valid or has expired."],
  IDEMPOTENCY_KEY_INVALID: [422, "An idempotency key must be 1 to 255 printable ASCII characters."],
  IDEMPOTENCY_KEY_REUSED: [422, "This idempotency key was already used with a different body."],
  "429": [429, "Too many requests."],
  REQUEST_HEADERS_TOO_LARGE: [431, "The URL and headers together exceed 16 KiB."],
  CANNOT_CREATE_PAYMENT_LINK: [500, "The payment link could not be created."],
  INTERNAL_ERROR: [500, "Something went wrong on our side."],
  SIWE_CHAIN_UNAVAILABLE: [503, "The wallet's chain cannot be reached right now."],
  OIDC_ISSUER_UNAVAILABLE: [503, "The identity provider cannot be reached right now."],
  SERVICE_UNAVAILABLE: [503, "The service is not available right now."],
} as const satisfies Record<string, readonly [number, string]>;

export type ApiErrorCode = keyof typeof apiErrorDefinitions;

/** Every error code of the API. */
export const apiErrorCodes = Object.keys(apiErrorDefinitions) as readonly ApiErrorCode[];

/** An entry of the error response (rule ERROR-1). */
export type ApiErrorEntry = {
  message: string;
  code: string;
  /**
   * The ways in which the account can prove presence; only with `REAUTHENTICATION_REQUIRED` (rule
   * CALLER-19).
   */
  methods?: readonly string[];
};

/**
 * A deliberate rejection of a request. The HTTP layer responds with its status and entries. The
 * request did not change anything.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly entries: readonly ApiErrorEntry[];

  constructor(status: number, entries: readonly ApiErrorEntry[]) {
    // The stack of a client's error is never logged. Recording it is expensive in a flood of them.
    const { stackTraceLimit } = Error;
    if (status < 500) Error.stackTraceLimit = 0;
    super(entries.map((entry) => entry.code).join(", "));
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "ApiError";
    this.status = status;
    this.entries = entries;
  }
}

/** Creates the error for a code, with its status and message. */
export const createApiError = (code: ApiErrorCode): ApiError => {
  const [status, message] = apiErrorDefinitions[code];
  return new ApiError(status, [{ message, code }]);
};

/** Creates the error that requires a new proof of presence by one of the given methods. */
export const createReauthenticationError = (methods: readonly string[]): ApiError => {
  const code = "REAUTHENTICATION_REQUIRED";
  const [status, message] = apiErrorDefinitions[code];
  return new ApiError(status, [{ message, code, methods }]);
};

/**
 * What is wrong with a webhook URL (rules HOOK-2 and HOOK-3). A name that does not resolve and one
 * that resolves to a private address have the same problem, because the difference would reveal
 * which names exist in the service's own network.
 */
const webhookUrlProblems = {
  format:
    "The URL must be absolute, must have at most 2048 characters and must not contain control characters.",
  scheme: "The URL must start with https://.",
  credentials: "The URL must not contain a user name or a password.",
  port: "The URL must not contain a port, not even 443.",
  fragment: "The URL must not contain a fragment (the part after #).",
  host: "The host must be public: a public IP address, or a name that resolves only to public IP addresses.",
} as const;
/** Creates the error for a rejected webhook URL. */
export const createWebhookUrlError = (problem: keyof typeof webhookUrlProblems): ApiError => {
  const code = "INVALID_WEBHOOK_URL";
  const [status] = apiErrorDefinitions[code];
  return new ApiError(status, [{ message: webhookUrlProblems[problem], code }]);
};

/** Returns the HTTP status for an error code. */
export const getApiErrorStatus = (code: ApiErrorCode): number => apiErrorDefinitions[code][0];
