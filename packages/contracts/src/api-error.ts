/** Every error code that an API response can contain, with its status and message (rule ERROR-2). */
const apiErrorDefinitions = {
  BAD_REQUEST: [400, "This is not a valid HTTP request."],
  UNAUTHENTICATED: [401, "Authentication is required."],
  REAUTHENTICATION_REQUIRED: [401, "Prove once more that it is you, then try again."],
  INVALID_API_KEY: [401, "The API key is not valid."],
  EXPIRED_API_KEY: [401, "The API key has expired."],
  INVALID_SIGN_IN_TOKEN: [401, "The sign-in link is not valid or has been used."],
  INVALID_SIWE_MESSAGE: [401, "The sign-in message or its signature is not valid, or no longer."],
  INVALID_PASSKEY: [401, "The passkey's answer is not valid, or no longer."],
  OIDC_SIGN_IN_REFUSED: [401, "The identity provider did not confirm this sign-in."],
  INVALID_SIGNATURE: [401, "The signature is missing, stale or wrong."],
  INSUFFICIENT_API_SCOPE: [403, "The API key lacks the scope that this operation needs."],
  CROSS_SITE_REQUEST: [403, "Requests from another site are refused."],
  API_KEY_ADDRESS_REFUSED: [403, "The API key may not be used from this address."],
  ACCOUNT_SUSPENDED: [403, "The account is suspended."],
  REAUTHENTICATION_MISMATCH: [403, "This proves somebody else than who is signed in."],
  SIGN_UP_CLOSED: [403, "There is no account for this sign-in, and none is opened here."],
  FORBIDDEN: [403, "This request is refused."],
  CANNOT_FIND_PAYMENT_LINK: [404, "The payment link cannot be found."],
  NOT_FOUND: [404, "There is nothing at this address."],
  SIGN_IN_METHOD_UNAVAILABLE: [404, "This way of signing in is not available here."],
  METHOD_NOT_ALLOWED: [405, "This address does not answer to that method."],
  REQUEST_TIMEOUT: [408, "The request took too long to arrive."],
  PAYMENT_LINK_ACCOUNT_NOT_READY: [409, "The account needs a handle and a default wallet first."],
  PAYMENT_LINK_NOT_ACTIVE: [409, "The payment link is not active."],
  PAYMENT_SEEN: [409, "A payment was seen and is being confirmed. Do not pay again."],
  PAYER_IS_OWNER: [409, "This is the account that is to be paid."],
  BALANCE_TOO_LOW: [409, "The account holds less than the amount."],
  DEPOSIT_ALREADY_ASSIGNED: [409, "The deposit was assigned to a payment link already."],
  DEPOSIT_ALREADY_APPLIED: [409, "This money already counts as a payment of a payment link."],
  DEPOSIT_NOT_SETTLED: [409, "The deposit has not settled yet: try again once it has."],
  DEPOSIT_ORPHANED: [409, "The chain took the deposit away: the money is not there."],
  DEPOSIT_WRONG_TOKEN: [409, "The payment link asks for another token or chain."],
  DEPOSIT_WRONG_DESTINATION: [409, "The payment link is paid at another address."],
  IDEMPOTENCY_KEY_IN_USE: [409, "The first call with this idempotency key is still running."],
  HANDLE_TAKEN: [409, "The handle belongs to another account."],
  HANDLE_LIMIT: [409, "The account has had as many handles as it may have."],
  WALLET_EXISTS: [409, "The account has this wallet with this token already."],
  WALLET_LIMIT: [409, "The account has as many wallets as it may have."],
  API_KEY_LIMIT: [409, "The account has as many API keys as it may have."],
  API_KEY_NOT_ACTIVE: [409, "The API key is switched off or has expired."],
  API_KEY_REPLACED: [409, "Another API key has taken this one's place already."],
  IDENTITY_TAKEN: [409, "This identity signs in to another account."],
  IDENTITY_LIMIT: [409, "The account has as many identities as it may have."],
  PASSKEY_EXISTS: [409, "This passkey is known already."],
  PASSKEY_LIMIT: [409, "The account has as many passkeys as it may have."],
  LAST_WAY_IN: [409, "This is the account's last way in: add another one first."],
  WEBHOOK_ENDPOINT_LIMIT: [409, "The account has five webhook endpoints already."],
  PAYLOAD_TOO_LARGE: [413, "The body is larger than 64 KiB."],
  UNSUPPORTED_CONTENT_ENCODING: [415, "The body must not be compressed."],
  AUDIT_LOG_TOO_LONG: [422, "These are more than 100,000 entries: narrow them by time."],
  INVALID_PAYMENT_LINK_AMOUNT: [422, "The amount has more decimals than the token allows."],
  AMOUNT_NOT_PAYABLE: [422, "The chain cannot send this amount. The least is 0.00000546 BTC."],
  INVALID_HANDLE: [422, "A handle is 3 to 30 of a-z, 0-9 and _, and not a reserved word."],
  INVALID_WALLET_ADDRESS: [422, "The address is not a valid one of the token's chain."],
  SOLANA_WALLET_REQUIRED: [422, "This is a token account or a mint. Enter a wallet's address."],
  BITCOIN_KEY_REQUIRED: [422, "Bitcoin needs an extended public key, not a single address."],
  PRIVATE_KEY_REFUSED: [422, "This may be a private key. It was not kept; show it to nobody."],
  INVALID_WEBHOOK_URL: [422, "The URL must be a public https address without a port."],
  IDEMPOTENCY_KEY_INVALID: [422, "An idempotency key is 1 to 255 printable ASCII characters."],
  IDEMPOTENCY_KEY_REUSED: [422, "This idempotency key was used with another body."],
  "429": [429, "Too many requests."],
  REQUEST_HEADERS_TOO_LARGE: [431, "The address and the headers are larger than 16 KiB."],
  CANNOT_CREATE_PAYMENT_LINK: [500, "The payment link could not be created."],
  INTERNAL_ERROR: [500, "Something failed on our side."],
  SIWE_CHAIN_UNAVAILABLE: [503, "The chain of this wallet does not answer right now."],
  OIDC_ISSUER_UNAVAILABLE: [503, "The identity provider does not answer right now."],
  SERVICE_UNAVAILABLE: [503, "The service is not available right now."],
} as const satisfies Record<string, readonly [number, string]>;

export type ApiErrorCode = keyof typeof apiErrorDefinitions;

/** Every error code of the API. */
export const apiErrorCodes = Object.keys(apiErrorDefinitions) as readonly ApiErrorCode[];

/** One entry of the error response (rule ERROR-1). */
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
 * A deliberate rejection of a request. The HTTP layer responds with its status and entries. Nothing
 * was changed.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly entries: readonly ApiErrorEntry[];

  constructor(status: number, entries: readonly ApiErrorEntry[]) {
    super(entries.map((entry) => entry.code).join(", "));
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

/** Returns the HTTP status for an error code. */
export const getApiErrorStatus = (code: ApiErrorCode): number => apiErrorDefinitions[code][0];
