import type {
  Account,
  IntrospectionResponse,
  IntrospectionRequest,
} from "@payment-links/contracts";

/**
 * The authenticated caller: the account with its wallets and version, and the credential that was
 * presented.
 */
export type Caller = {
  account: Account;
  credential: {
    id: string;
    /** The rate-limit bucket. A key and the keys it was rotated to share one bucket. */
    bucketId: string;
    scopes: readonly string[];
    expiresAt: Date | null;
    /** The networks from which a key may be used. Any address is allowed if undefined. */
    cidrs?: readonly string[] | undefined;
    /** The key's own rate limit, when it is lower than the installation's limit. */
    requestsPerMinute?: number | undefined;
    burst?: number | undefined;
    /** Sessions only: the sign-in method that started the session. */
    method?: string | undefined;
    /** Sessions only: when the user last proved presence, and the methods that can prove it again. */
    presence?: { provenAt: Date; methods: readonly string[] } | undefined;
  };
};

/**
 * Sends one introspection request to auth-keys. Enforces its own deadline. Throws
 * `InvalidIntrospectionResponse` if auth-keys replied but only this request may be at fault. Throws
 * any other error if auth-keys is unreachable.
 */
export type RequestIntrospection = (
  request: IntrospectionRequest,
) => Promise<IntrospectionResponse>;

/** auth-keys replied, but the response is invalid. */
export class InvalidIntrospectionResponse extends Error {
  override readonly name = "InvalidIntrospectionResponse";
}

/** The caller cannot be identified: auth-keys is unavailable, and no cached response is recent enough. */
export class IdentityUnavailable extends Error {
  override readonly name = "IdentityUnavailable";
}
