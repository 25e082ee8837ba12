import { hash } from "node:crypto";
import { type SessionService, isApiKey, createApiError } from "@payment-links/contracts";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import { createIntrospectionCache } from "./introspection-cache.ts";
import type { RequestIntrospection, Caller } from "./caller.ts";
import { withCircuitBreaker } from "./circuit-breaker.ts";
import { createIdentityMetrics } from "./identity-metrics.ts";
import { requirePresence } from "./require-presence.ts";

/** Identifies callers by the latest responses from auth-keys (rule CALLER-3). */
export type Identity = {
  /**
   * Returns the key's owner without I/O if a cached response is at most `maxAgeMs` old and the key
   * can be used now. `undefined` does not mean that the key is invalid.
   */
  findCachedApiKeyCaller(key: string, maxAgeMs: number): Caller | undefined;
  /**
   * Returns the key's owner. Throws the API errors INVALID_API_KEY, EXPIRED_API_KEY and
   * ACCOUNT_SUSPENDED, or `IdentityUnavailable` if there is no response that is at most `maxAgeMs`
   * old. While auth-keys is unavailable, a response can be up to 60 s old, unless `maxAgeMs` is
   * 1,000 or less. `address` is part of an introspection request.
   */
  authenticateApiKey(key: string, options: ApiKeyOptions): Promise<Caller>;
  /**
   * Returns the session's user. The same rules apply to the age of responses. Throws the API errors
   * UNAUTHENTICATED and ACCOUNT_SUSPENDED, or `IdentityUnavailable`. With `needsPresence`, also
   * throws REAUTHENTICATION_REQUIRED.
   */
  authenticateSession(token: string, options: SessionOptions): Promise<Caller>;
  /** Removes a session from the cache. Call it when this service ends the session. */
  invalidateSession(token: string): void;
};

/** `address` is the client's IP address. */
type ApiKeyOptions = { maxAgeMs: number; address?: string | undefined };

type SessionOptions = { maxAgeMs: number; needsPresence?: boolean };

type IdentityOptions = {
  requestIntrospection: RequestIntrospection;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  /** The service that receives the session tokens. Default: auth-keys. */
  service?: SessionService | undefined;
};

const sessionTokenCharsMax = 256;
const keyCharsMax = 64;

/**
 * Creates the client of auth-keys with its bounded caches. Of each secret, only the SHA-256 is
 * stored.
 */
export const createIdentity = ({
  requestIntrospection,
  clock,
  metrics,
  log,
  service,
}: IdentityOptions): Identity => {
  const identityMetrics = createIdentityMetrics(metrics, clock);
  const guardedRequest = withCircuitBreaker({ requestIntrospection, clock, identityMetrics, log });
  const apiKeys = createIntrospectionCache({
    kind: "api-key",
    requestIntrospection: guardedRequest,
    clock,
    identityMetrics,
  });
  const sessions = createIntrospectionCache({
    kind: "session",
    service,
    requestIntrospection: guardedRequest,
    clock,
    identityMetrics,
  });
  const hasExpired = ({ credential }: Caller): boolean =>
    credential.expiresAt !== null && credential.expiresAt <= clock.now();

  return {
    findCachedApiKeyCaller: (key, maxAgeMs) => {
      if (key.length > keyCharsMax) return undefined;
      const caller = apiKeys.findFresh(hashCredential(key), maxAgeMs)?.caller;
      const isUsable = caller !== undefined && !hasExpired(caller) && !isSuspended(caller);
      return isUsable ? caller : undefined;
    },
    authenticateApiKey: async (key, options) => {
      if (!isApiKey(key)) throw createApiError("INVALID_API_KEY");
      const { caller } = await apiKeys.get(hashCredential(key), options);
      if (caller === undefined) throw createApiError("INVALID_API_KEY");
      if (hasExpired(caller)) throw createApiError("EXPIRED_API_KEY");
      if (isSuspended(caller)) throw createApiError("ACCOUNT_SUSPENDED");
      return caller;
    },
    authenticateSession: async (token, { maxAgeMs, needsPresence = false }) => {
      const isWellFormed = token !== "" && token.length <= sessionTokenCharsMax;
      if (!isWellFormed) throw createApiError("UNAUTHENTICATED");
      const { caller } = await sessions.get(hashCredential(token), { maxAgeMs });
      if (caller === undefined || hasExpired(caller)) throw createApiError("UNAUTHENTICATED");
      if (isSuspended(caller)) throw createApiError("ACCOUNT_SUSPENDED");
      if (needsPresence) requirePresence(caller, clock.now());
      return caller;
    },
    invalidateSession: (token) => sessions.invalidate(hashCredential(token)),
  };
};

const isSuspended = ({ account }: Caller): boolean => account.isSuspended === true;

/**
 * Returns the same SHA-256 as `hashSecret` in contracts, but with one native call, because it runs
 * on every request.
 */
const hashCredential = (secret: string): string => hash("sha256", secret, "hex");
