import type { ApiErrorCode, ValidationCode } from "@payment-links/contracts";

type ErrorGroup =
  | "keys"
  | "links"
  | "idempotency"
  | "requests"
  | "limits"
  | "checkout"
  | "sign-in"
  | "account"
  | "deposits";

const no = "No.";
const afterPause = "Yes. Wait at least as long as `Retry-After` says, or 1 second.";
const withBackoff = "Yes, with a delay that doubles each time.";

/**
 * What the docs say about each error code: why it occurs, what to do, and whether to repeat the
 * request. The type check fails for a code that is missing.
 */
export const apiErrorAdvice: Readonly<
  Record<ApiErrorCode, { group: ErrorGroup; cause: string; fix: string; retry: string }>
> = {
  UNAUTHENTICATED: {
    group: "keys",
    cause: "The request has no `X-API-Key` header, or the console session has ended.",
    fix: "Send the header `X-API-Key`. In the console, sign in again.",
    retry: no,
  },
  INVALID_API_KEY: {
    group: "keys",
    cause: "The key is unknown, revoked or deactivated. The response doesn't say which.",
    fix: "Check that you sent the complete key, which starts with `plk_live_` or `plk_test_`. In the console, open *API keys* and activate the key or create a new one.",
    retry: no,
  },
  EXPIRED_API_KEY: {
    group: "keys",
    cause: "The key's expiry date has passed.",
    fix: "Create a new key. Rotate keys before they expire: the old key keeps working during the overlap that you choose.",
    retry: no,
  },
  API_KEY_ADDRESS_REFUSED: {
    group: "keys",
    cause: "The key is restricted to IP addresses, and the request came from another one.",
    fix: "Create a key with your server's outgoing address or network. Behind a proxy, the operator must set `TRUSTED_PROXIES`, or the service sees the proxy's address.",
    retry: no,
  },
  INSUFFICIENT_API_SCOPE: {
    group: "keys",
    cause: "The key doesn't have the scope that this operation needs.",
    fix: "Create a key with `payment_link:create` to create links, or `payment_link:read` to list them. The scopes of a key can't be changed.",
    retry: no,
  },
  TEST_KEY_REQUIRED: {
    group: "keys",
    cause: "The key is for live mode, and payments can be simulated only in test mode.",
    fix: "Create a key in test mode, which starts with `plk_test_`, and use it with a link that it created.",
    retry: no,
  },
  ACCOUNT_SUSPENDED: {
    group: "keys",
    cause: "The operator of this service has suspended the account.",
    fix: "Contact the operator. Payments that still arrive are credited, and their webhooks are sent.",
    retry: no,
  },

  CANNOT_FIND_PAYMENT_LINK: {
    group: "links",
    cause: "No link has this id. When you list links, the list could not be read.",
    fix: "Check the id. It starts with `plink_`.",
    retry: `To retrieve a link: no. To list links: ${withBackoff.toLowerCase()}`,
  },
  PAYMENT_LINK_ACCOUNT_NOT_READY: {
    group: "links",
    cause: "The account of the key has no handle or no default wallet.",
    fix: "The owner must sign in to the console and add both. With a delayed wallet change, the account can have no default wallet for some time.",
    retry: no,
  },
  INVALID_PAYMENT_LINK_AMOUNT: {
    group: "links",
    cause: "`toAmount` has more decimal places than the token of the default wallet. USDC has 6.",
    fix: "Round the amount before you send it. Trailing zeros don't matter.",
    retry: no,
  },
  AMOUNT_NOT_PAYABLE: {
    group: "links",
    cause: "The chain can't send this amount. On Bitcoin, the minimum is 546 satoshis.",
    fix: "Request a larger amount, or use a wallet on another chain.",
    retry: no,
  },
  TEST_MODE_UNAVAILABLE: {
    group: "links",
    cause:
      "The installation's catalogue has no token on a test network, and a test link needs one.",
    fix: "Use live mode, or ask the operator to add a test network to the catalogue.",
    retry: no,
  },
  PAYMENT_SIMULATED: {
    group: "links",
    cause: "The payment was simulated in test mode, so no transaction exists.",
    fix: "Nothing to do: there is no money to refund.",
    retry: no,
  },
  PAYMENT_LINK_NOT_ACTIVE: {
    group: "links",
    cause: "The link is completed, expired or already deactivated.",
    fix: "Retrieve the link to see its status. A link never becomes active again, so create a new one.",
    retry: no,
  },
  CANNOT_CREATE_PAYMENT_LINK: {
    group: "links",
    cause: "The link could not be stored, or the service could not identify the caller.",
    fix: "Repeat the request with the same `Idempotency-Key`. If the first request created a link, you get that link.",
    retry: "Yes, with the same `Idempotency-Key` and a delay that doubles each time.",
  },

  IDEMPOTENCY_KEY_INVALID: {
    group: "idempotency",
    cause:
      "The header `Idempotency-Key` is empty, longer than 255 characters, or not printable ASCII.",
    fix: "Use your order number or a random UUID.",
    retry: no,
  },
  IDEMPOTENCY_KEY_REUSED: {
    group: "idempotency",
    cause:
      "A request with the same key and other bytes created a link in the last 24 hours. The order of fields and spaces counts.",
    fix: "Send exactly the same body for the same order, and use a new key for a new link.",
    retry: no,
  },
  IDEMPOTENCY_KEY_IN_USE: {
    group: "idempotency",
    cause: "The first request with this key is still running.",
    fix: "Wait for a second and repeat the request. You then get the first response.",
    retry: "Yes, after 1 second.",
  },

  NOT_FOUND: {
    group: "requests",
    cause: "The path doesn't exist, or the resource doesn't exist or belongs to another account.",
    fix: "Check the path, including `/v1`.",
    retry: no,
  },
  METHOD_NOT_ALLOWED: {
    group: "requests",
    cause:
      "The path exists, but not for this HTTP method. Links can't be changed or deleted by API.",
    fix: "Use a method from the `Allow` header.",
    retry: no,
  },
  BAD_REQUEST: {
    group: "requests",
    cause: "The HTTP request is malformed, or its body arrived in too many small pieces.",
    fix: "Send the body in one piece, with a correct `Content-Length`.",
    retry: no,
  },
  REQUEST_TIMEOUT: {
    group: "requests",
    cause: "The request did not arrive completely in time.",
    fix: "Check the connection between your server and the service.",
    retry: withBackoff,
  },
  REQUEST_HEADERS_TOO_LARGE: {
    group: "requests",
    cause: "The URL and headers together exceed 16 KiB.",
    fix: "Send fewer or smaller headers, such as cookies.",
    retry: no,
  },
  PAYLOAD_TOO_LARGE: {
    group: "requests",
    cause: "The body exceeds 64 KiB (an uploaded image: 2 MiB) or has more than 2,000 JSON values.",
    fix: "Send only the documented fields, or a smaller image.",
    retry: no,
  },
  UNSUPPORTED_CONTENT_ENCODING: {
    group: "requests",
    cause: "The body is compressed.",
    fix: "Send it without `Content-Encoding`.",
    retry: no,
  },
  INVALID_SIGNATURE: {
    group: "requests",
    cause:
      "A payment provider's notice has no valid signature, or its timestamp is more than 300 seconds off.",
    fix: "Check the provider's secret and clock. Your webhook receiver doesn't get this code: it is for requests to the service.",
    retry: no,
  },
  FORBIDDEN: {
    group: "requests",
    cause: "The internal port rejected the request, for example because a browser sent it.",
    fix: "Use the public address.",
    retry: no,
  },
  CROSS_SITE_REQUEST: {
    group: "requests",
    cause: "A page of another site called the console's API.",
    fix: "Call `/v1` with an API key, from a server.",
    retry: no,
  },

  "429": {
    group: "limits",
    cause:
      "The API key or the source address has used its requests, or sends too many emails or images. The header `RateLimit` says which limit is used up.",
    fix: "Slow down. See [limits](going-live.md#limits).",
    retry: afterPause,
  },
  INTERNAL_ERROR: {
    group: "limits",
    cause: "Something failed in the service.",
    fix: "If it happens again, send the `X-Request-Id` of the response to the operator.",
    retry: withBackoff,
  },
  SERVICE_UNAVAILABLE: {
    group: "limits",
    cause:
      "The service could not identify the caller or respond in time, or it has reached its limit of event streams or exports.",
    fix: "Repeat the request later, a create with the same `Idempotency-Key`. Without a key, a write may have succeeded, so check first.",
    retry: afterPause,
  },

  PAYMENT_SEEN: {
    group: "checkout",
    cause: "A payment of the remaining amount was already seen and is being confirmed.",
    fix: "Don't pay again. Wait until the payment settles.",
    retry: no,
  },
  PAYER_IS_OWNER: {
    group: "checkout",
    cause: "The payer's account is the account that receives the payment.",
    fix: "Pay from another account.",
    retry: no,
  },
  BALANCE_TOO_LOW: {
    group: "checkout",
    cause: "The account that sends has less than the amount.",
    fix: "Add money to the account, or pay from another one.",
    retry: no,
  },

  INVALID_SIGN_IN_TOKEN: {
    group: "sign-in",
    cause: "The sign-in link was used, is older than 15 minutes, or was not copied completely.",
    fix: "Ask the operator for a new link.",
    retry: no,
  },
  INVALID_SIWE_MESSAGE: {
    group: "sign-in",
    cause:
      "The signed message is older than 5 minutes, is for another site, or its signature is wrong.",
    fix: "Start the sign-in again. Check your computer's clock.",
    retry: no,
  },
  INVALID_PASSKEY: {
    group: "sign-in",
    cause: "The passkey is unknown, or its response is older than 5 minutes.",
    fix: "Start the sign-in again.",
    retry: no,
  },
  OIDC_SIGN_IN_REFUSED: {
    group: "sign-in",
    cause: "The identity provider did not confirm the sign-in, or none of your groups may sign in.",
    fix: "Try again, or ask the operator for access.",
    retry: no,
  },
  OIDC_ISSUER_UNAVAILABLE: {
    group: "sign-in",
    cause: "The identity provider did not respond.",
    fix: "Try again later, or use another sign-in method.",
    retry: withBackoff,
  },
  SIWE_CHAIN_UNAVAILABLE: {
    group: "sign-in",
    cause:
      "The signature of a contract wallet can only be checked on its chain, and the chain's nodes did not respond or disagreed.",
    fix: "Try again later.",
    retry: withBackoff,
  },
  SIGN_IN_METHOD_UNAVAILABLE: {
    group: "sign-in",
    cause: "The operator has not enabled this sign-in method.",
    fix: "Use another method.",
    retry: no,
  },
  SIGN_UP_CLOSED: {
    group: "sign-in",
    cause: "No account belongs to this sign-in, and new accounts can't be created by signing in.",
    fix: "Ask the operator to create an account.",
    retry: no,
  },
  REAUTHENTICATION_REQUIRED: {
    group: "sign-in",
    cause: "The change is sensitive, and the last proof of presence is older than 10 minutes.",
    fix: "Confirm your identity by one of the `methods` in the response, then repeat the request.",
    retry: "Yes, after you have confirmed your identity.",
  },
  REAUTHENTICATION_MISMATCH: {
    group: "sign-in",
    cause: "You confirmed your identity with a sign-in method of another account.",
    fix: "Use a method of the account that you are signed in to.",
    retry: no,
  },

  INVALID_HANDLE: {
    group: "account",
    cause:
      "The handle has other characters than `a-z`, `0-9` and `_`, is not 3 to 30 characters long, or is a reserved word.",
    fix: "Choose another handle.",
    retry: no,
  },
  HANDLE_TAKEN: {
    group: "account",
    cause: "Another account has, or once had, this handle.",
    fix: "Choose another handle.",
    retry: no,
  },
  HANDLE_LIMIT: {
    group: "account",
    cause: "An account can have 3 handles in total, including former ones.",
    fix: "Use one of the account's handles.",
    retry: no,
  },
  INVALID_WALLET_ADDRESS: {
    group: "account",
    cause:
      "The address belongs to another chain or network, is the zero address, or is a token's contract.",
    fix: "Copy the address again from your wallet, for the chain of the token.",
    retry: no,
  },
  SOLANA_WALLET_REQUIRED: {
    group: "account",
    cause: "The address is a token account or a mint.",
    fix: "Enter the wallet's own address.",
    retry: no,
  },
  BITCOIN_KEY_REQUIRED: {
    group: "account",
    cause: "Each link needs its own Bitcoin address, so a single address is not enough.",
    fix: "Enter the extended public key (`xpub`, `ypub`, `zpub`) or the descriptor of an account.",
    retry: no,
  },
  PRIVATE_KEY_REFUSED: {
    group: "account",
    cause: "The text may be a private key or a recovery phrase. It was not stored.",
    fix: "Enter an address or a public key. Because the text left your computer, move the money to a new wallet if it was a private key.",
    retry: no,
  },
  WALLET_EXISTS: {
    group: "account",
    cause: "The account already has this wallet for this token.",
    fix: "Use the existing wallet.",
    retry: no,
  },
  WALLET_LIMIT: {
    group: "account",
    cause: "An account has at most 50 wallets.",
    fix: "Delete a wallet that you don't use.",
    retry: no,
  },
  API_KEY_LIMIT: {
    group: "account",
    cause: "An account has at most 100 API keys.",
    fix: "Revoke a key that you don't use.",
    retry: no,
  },
  API_KEY_NOT_ACTIVE: {
    group: "account",
    cause: "The key to be rotated is deactivated or has expired.",
    fix: "Activate the key, or create a new one.",
    retry: no,
  },
  API_KEY_REPLACED: {
    group: "account",
    cause: "The key was already rotated.",
    fix: "Rotate the key that replaced it.",
    retry: no,
  },
  IDENTITY_TAKEN: {
    group: "account",
    cause: "The sign-in identity is linked to another account.",
    fix: "Sign in to that account and unlink it first.",
    retry: no,
  },
  IDENTITY_LIMIT: {
    group: "account",
    cause: "An account has at most 10 identities.",
    fix: "Unlink one that you don't use.",
    retry: no,
  },
  PASSKEY_EXISTS: {
    group: "account",
    cause: "The passkey is already registered.",
    fix: "Use the existing passkey.",
    retry: no,
  },
  PASSKEY_LIMIT: {
    group: "account",
    cause: "An account has at most 10 passkeys.",
    fix: "Remove one that you don't use.",
    retry: no,
  },
  LAST_WAY_IN: {
    group: "account",
    cause: "Without this sign-in method, you could not sign in any more.",
    fix: "Add another method first.",
    retry: no,
  },
  EMAIL_UNAVAILABLE: {
    group: "account",
    cause: "The operator has not configured email.",
    fix: "Use the console to see events.",
    retry: no,
  },
  INVALID_CONFIRMATION_TOKEN: {
    group: "account",
    cause: "The confirmation link was used, is older than 24 hours, or a newer one was sent.",
    fix: "Use the newest email, or request another one.",
    retry: no,
  },
  WEBHOOK_ENDPOINT_LIMIT: {
    group: "account",
    cause: "An account has at most 5 webhook endpoints in each mode, including disabled ones.",
    fix: "Delete an endpoint that you don't use.",
    retry: no,
  },
  WEBHOOK_LISTENER_LIMIT: {
    group: "account",
    cause: "An account has at most 3 connections of `payment-links listen` in each mode.",
    fix: "End one with Ctrl-C. One that was killed ends 5 minutes after its last connection.",
    retry: "Yes, after 5 minutes.",
  },
  INVALID_WEBHOOK_URL: {
    group: "account",
    cause:
      "The URL is not a public `https` address, or it has a port, credentials or a fragment. The message names the rule.",
    fix: "See [allowed URLs](webhooks.md#allowed-urls).",
    retry: no,
  },
  AUDIT_LOG_TOO_LONG: {
    group: "account",
    cause: "The export would have more than 100,000 entries.",
    fix: "Select a shorter period.",
    retry: no,
  },
  INVALID_IMAGE: {
    group: "account",
    cause: "The uploaded file is not a PNG, JPEG, WebP or GIF image, or it is damaged.",
    fix: "Export the image again as PNG or JPEG.",
    retry: no,
  },
  IMAGE_TOO_MANY_PIXELS: {
    group: "account",
    cause: "The uploaded image has more than 12,582,912 pixels, or a side of more than 16,383.",
    fix: "Scale the image down, for example to 1024 × 1024 pixels.",
    retry: no,
  },

  DEPOSIT_ALREADY_ASSIGNED: {
    group: "deposits",
    cause: "The deposit was already assigned to a link. An assignment can't be undone.",
    fix: "See the link to which it is assigned.",
    retry: no,
  },
  DEPOSIT_ALREADY_APPLIED: {
    group: "deposits",
    cause: "A payment provider reported the same transfer, and it is applied to a link.",
    fix: "Dismiss the deposit.",
    retry: no,
  },
  DEPOSIT_NOT_SETTLED: {
    group: "deposits",
    cause: "The deposit is not final yet.",
    fix: "Wait until it has settled.",
    retry: "Yes, after the deposit has settled.",
  },
  DEPOSIT_ORPHANED: {
    group: "deposits",
    cause: "The chain reversed the transfer.",
    fix: "Dismiss the deposit. If the chain contains it again, it can settle.",
    retry: no,
  },
  DEPOSIT_WRONG_TOKEN: {
    group: "deposits",
    cause: "The deposit is in another token or on another chain than the link.",
    fix: "Choose a link in the same token, or refund the deposit and dismiss it.",
    retry: no,
  },
  DEPOSIT_WRONG_DESTINATION: {
    group: "deposits",
    cause: "The deposit reached another address than the link's.",
    fix: "Choose a link with the same destination address.",
    retry: no,
  },
  INVALID_TRANSACTION_ID: {
    group: "deposits",
    cause: "The transaction ID of a refund doesn't have the form of its chain.",
    fix: "Copy the transaction ID from your wallet or from the block explorer.",
    retry: no,
  },
};

/** What the docs say about each validation code. All have the status 422. */
export const validationAdvice: Readonly<Record<ValidationCode, { cause: string; fix: string }>> = {
  missing: {
    cause: "A required field, a required query parameter or the whole body is missing.",
    fix: "To create a link, send `toAmount`.",
  },
  json_invalid: { cause: "The body can't be parsed.", fix: "Use a JSON library to write it." },
  model_attributes_type: {
    cause: "The body is a list, a string, a number or null, or it was not sent as JSON.",
    fix: "Send an object with `Content-Type: application/json`.",
  },
  decimal_type: {
    cause: "The amount is a boolean, a list or an object.",
    fix: 'Send a string, such as `"25"`.',
  },
  decimal_parsing: {
    cause: "The amount has other characters than a decimal number, such as a currency or a comma.",
    fix: 'Send `"1234.5"`, not `"1,234.50 USDC"`.',
  },
  decimal_max_digits: {
    cause: "The amount has more than 78 digits or 100 decimal places.",
    fix: "Send a smaller number.",
  },
  decimal_max_places: {
    cause: "The amount of a refund or in a provider's notice is finer than the token.",
    fix: "Use at most the token's decimals.",
  },
  finite_number: { cause: "The number is `NaN` or infinity.", fix: "Send a finite number." },
  greater_than: { cause: "The amount is 0 or negative.", fix: "Send an amount above 0." },
  greater_than_equal: {
    cause: "An integer is below its minimum: `maxUsage` starts at 1, `offset` at 0.",
    fix: "Send a larger integer. For no limit, omit `maxUsage`.",
  },
  less_than_equal: {
    cause: "An integer is above its maximum, 2147483647 for `maxUsage` and `offset`.",
    fix: "Send a smaller integer.",
  },
  string_type: { cause: "The value is not a string.", fix: "Send a string or omit the field." },
  string_too_long: {
    cause: "The text is too long. `description` has at most 500 characters.",
    fix: "Shorten the text. Characters are Unicode code points.",
  },
  string_too_short: { cause: "The text is too short or empty.", fix: "Send a longer text." },
  string_pattern_mismatch: {
    cause: "The text has a wrong format, a NUL character or half of a surrogate pair.",
    fix: "Send valid Unicode in the documented format.",
  },
  int_type: {
    cause: "The value is a boolean, a list or an object.",
    fix: "Send an integer.",
  },
  int_parsing: { cause: "The text is not an integer.", fix: "Send only digits." },
  int_from_float: {
    cause: "The number has a fractional part.",
    fix: "Send a whole number.",
  },
  bool_type: { cause: "The value is not a boolean.", fix: "Send `true` or `false`." },
  list_type: { cause: "The value is not a list.", fix: "Send a list, also for one entry." },
  too_long: { cause: "The list has too many entries.", fix: "Send fewer entries." },
  too_short: { cause: "The list has too few entries.", fix: "Send at least one entry." },
  datetime_type: {
    cause: "The date is not a string, for example a Unix timestamp.",
    fix: 'Send `"2026-12-31T23:59:59Z"`.',
  },
  datetime_from_date_parsing: {
    cause: "The text is not an ISO 8601 date-time.",
    fix: 'Send `"2026-12-31T23:59:59Z"`. Without an offset, the time is UTC.',
  },
  datetime_future: {
    cause: "`expirationDate` has passed.",
    fix: "Send a later time. Check your server's clock.",
  },
  enum: {
    cause: "The value is not one of the allowed values.",
    fix: "`status` is `active`, `completed` or `inactive`.",
  },
  url_parsing: {
    cause: "The text is not an absolute URL, or it contains credentials.",
    fix: "Send a complete URL.",
  },
  url_scheme: { cause: "The URL starts with `http://`.", fix: "Use `https://`." },
  no_update: {
    cause: "The value can't be changed, such as the URL of a webhook endpoint.",
    fix: "Create a new endpoint and delete the old one.",
  },
};
