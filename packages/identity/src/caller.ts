import type {
  Account,
  IntrospectionResponse,
  IntrospectionRequest,
} from "@payment-links/contracts";

/** Who is calling: the account, with its wallets and version, and the credential that was shown. */
export type Caller = {
  account: Account;
  credential: {
    id: string;
    /** The rate bucket; keys rotated from one another share one. */
    bucketId: string;
    scopes: readonly string[];
    expiresAt: Date | null;
    /** From where a key may be used; from anywhere if not given. */
    cidrs?: readonly string[] | undefined;
    /** How fast a key may be used, where that is less than the installation grants. */
    requestsPerMinute?: number | undefined;
    burst?: number | undefined;
    /** Of a session: how it was begun. */
    method?: string | undefined;
    /** Of a session: when its person last proved to be there, and how they can do so again. */
    presence?: { provenAt: Date; methods: readonly string[] } | undefined;
  };
};

/**
 * Asks auth-keys one question. It settles within a time of its own and throws if there is no
 * answer: `InvalidIntrospectionResponse` if auth-keys did reply, so that this one question may be at fault, and any
 * other error if auth-keys could not be reached.
 */
export type RequestIntrospection = (
  request: IntrospectionRequest,
) => Promise<IntrospectionResponse>;

/** auth-keys replied, but its answer cannot be read. */
export class InvalidIntrospectionResponse extends Error {
  override readonly name = "InvalidIntrospectionResponse";
}

/** Nobody can tell who is calling: auth-keys does not answer, and no earlier answer may be used. */
export class IdentityUnavailable extends Error {
  override readonly name = "IdentityUnavailable";
}
