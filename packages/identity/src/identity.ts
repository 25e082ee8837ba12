import { hash } from "node:crypto";
import { type SessionService, isApiKey, createApiError } from "@payment-links/contracts";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import { createIntrospectionCache } from "./introspection-cache.ts";
import type { RequestIntrospection, Caller } from "./caller.ts";
import { withCircuitBreaker } from "./circuit-breaker.ts";
import { createIdentityMetrics } from "./identity-metrics.ts";
import { requirePresence } from "./require-presence.ts";

/** Tells who is calling, by what auth-keys last said (rule CALLER-3). */
export type Identity = {
  /**
   * Who holds the key, if an answer at most `maxAgeMs` old says so without any I/O and the key may
   * be used right now. Undefined says nothing about the key.
   */
  findCachedApiKeyCaller(key: string, maxAgeMs: number): Caller | undefined;
  /**
   * Who holds the key. Throws the refusals INVALID_API_KEY, EXPIRED_API_KEY and ACCOUNT_SUSPENDED,
   * and IdentityUnavailable without an answer at most `maxAgeMs` old. While auth-keys is away an answer
   * may be 60 s old, unless `maxAgeMs` is 1,000 or less. If auth-keys is asked, it is told the address.
   */
  authenticateApiKey(key: string, options: ApiKeyOptions): Promise<Caller>;
  /**
   * Whose session it is, likewise. Throws the refusals UNAUTHENTICATED and ACCOUNT_SUSPENDED, and
   * IdentityUnavailable. Where presence is needed, also REAUTHENTICATION_REQUIRED.
   */
  authenticateSession(token: string, options: SessionOptions): Promise<Caller>;
  /** Forgets what is known of a session that ended here. */
  invalidateSession(token: string): void;
};

/** What is asked of a key; `address` is from where it is used. */
type ApiKeyOptions = { maxAgeMs: number; address?: string | undefined };

/** What is asked of a session. */
type SessionOptions = { maxAgeMs: number; needsPresence?: boolean };

type IdentityOptions = {
  requestIntrospection: RequestIntrospection;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  /** The service that receives the sessions' tokens; auth-keys if not given. */
  service?: SessionService | undefined;
};

const sessionTokenCharsMax = 256;
const keyCharsMax = 64;

/** Makes the port to auth-keys, with its bounded caches. Only the SHA-256 of a secret is kept. */
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

/** The same SHA-256 as contracts' `hashSecret`, but in one call, because every request makes it. */
const hashCredential = (secret: string): string => hash("sha256", secret, "hex");
