import type {
  Account,
  IntrospectionResponse,
  IntrospectionRequest,
  Mode,
} from "@payment-links/contracts";

/**
 * The authenticated caller: the account with its wallets and version, and the credential that was
 * presented.
 */
export type Caller = {
  account: Account;
  credential: {
    id: string;
    /**
     * The id of the rate-limit bucket. A key shares its bucket with the keys that it was rotated
     * to.
     */
    bucketId: string;
    scopes: readonly string[];
    expiresAt: Date | null;
    /** For keys only: the mode. If undefined, the key is live. */
    mode?: Mode | undefined;
    /** The networks from which the key can be used. If undefined, any address is allowed. */
    cidrs?: readonly string[] | undefined;
    /** The key's own rate limit, if it is lower than the installation's limit. */
    requestsPerMinute?: number | undefined;
    burst?: number | undefined;
    /** For sessions only: the sign-in method that started the session. */
    method?: string | undefined;
    /** For sessions only: when the user last proved presence, and the methods for a new proof. */
    presence?: { provenAt: Date; methods: readonly string[] } | undefined;
  };
};

/**
 * Sends one introspection request to auth-keys. Enforces its own deadline. Throws
 * `InvalidIntrospectionResponse` if auth-keys responded, but the error may affect only this
 * request. Throws any other error if auth-keys is unavailable.
 */
export type RequestIntrospection = (
  request: IntrospectionRequest,
) => Promise<IntrospectionResponse>;

/** auth-keys responded, but the response is invalid. */
export class InvalidIntrospectionResponse extends Error {
  override readonly name = "InvalidIntrospectionResponse";
}

/** The caller cannot be identified: auth-keys is unavailable, and no cached response is recent enough. */
export class IdentityUnavailable extends Error {
  override readonly name = "IdentityUnavailable";
}
