import { LRUCache } from "lru-cache";
import type { IntrospectionResponse, IntrospectionRequest } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import { type RequestIntrospection, type Caller, IdentityUnavailable } from "./caller.ts";
import type { IdentityMetrics } from "./identity-metrics.ts";

/**
 * A response from auth-keys about a credential. `caller` is `undefined` if auth-keys does not know
 * the credential. The response's age is measured from the time of the request.
 */
type CachedResponse = { requestedAt: ClockReading; caller: Caller | undefined };

/** The wall clock, which can be set back, and the monotonic clock, which cannot. */
type ClockReading = { wallClockMs: number; elapsedMs: number };

/** The maximum age of the response, and the IP address that uses the credential, if known. */
type CacheRequest = { maxAgeMs: number; address?: string | undefined };

/** Caches responses about one kind of credential by the credential's hash. */
export type IntrospectionCache = {
  /** Returns the cached response if it is at most `maxAgeMs` old. */
  findFresh(hash: string, maxAgeMs: number): CachedResponse | undefined;
  /**
   * Returns a response that is at most `maxAgeMs` old, or a stale one if that is allowed. Throws
   * `IdentityUnavailable` otherwise.
   */
  get(hash: string, cacheRequest: CacheRequest): Promise<CachedResponse>;
  invalidate(hash: string): void;
};

type FoundResponse = Extract<IntrospectionResponse, { found: true }>;

type IntrospectionCacheOptions = {
  kind: IntrospectionRequest["kind"];
  service?: IntrospectionRequest["service"];
  requestIntrospection: RequestIntrospection;
  clock: Clock;
  identityMetrics: IdentityMetrics;
};

/**
 * Callers with a maximum age up to this value are about to write, so they never accept a stale
 * response.
 */
const strictMaxAgeMs = 1_000;
const staleMaxAgeMs = 60_000;
const notFoundMaxAgeMs = 5_000;
/**
 * The first attempt can join a request that was sent too early, and the second one can be delayed
 * by a pod that starts or stops.
 */
const attemptsMax = 3;
const foundMax = 10_000;
const notFoundMax = 10_000;

/**
 * Creates a cache that sends at most one request per credential at a time. Other callers join that
 * request.
 */
export const createIntrospectionCache = (
  options: IntrospectionCacheOptions,
): IntrospectionCache => {
  const { kind, clock, identityMetrics } = options;
  // The caches are separate, so that a flood of invented keys cannot evict real ones.
  const foundCache = new LRUCache<string, CachedResponse>({ max: foundMax });
  const notFoundCache = new LRUCache<string, CachedResponse>({ max: notFoundMax });
  const pendingRequests = new Map<string, Promise<CachedResponse>>();

  const isWithinAge = ({ requestedAt }: CachedResponse, maxAgeMs: number): boolean =>
    getAgeMs(requestedAt, readClocks(clock)) <= maxAgeMs;

  const findCached = (hash: string): CachedResponse | undefined =>
    foundCache.get(hash) ?? notFoundCache.get(hash);

  const findFresh = (hash: string, maxAgeMs: number): CachedResponse | undefined => {
    const cached = findCached(hash);
    if (cached === undefined) return undefined;
    const effectiveMaxAgeMs =
      cached.caller === undefined ? Math.min(maxAgeMs, notFoundMaxAgeMs) : maxAgeMs;
    return isWithinAge(cached, effectiveMaxAgeMs) ? cached : undefined;
  };

  const store = (hash: string, cached: CachedResponse): void => {
    const [targetCache, otherCache] =
      cached.caller === undefined ? [notFoundCache, foundCache] : [foundCache, notFoundCache];
    otherCache.delete(hash);
    targetCache.set(hash, cached);
  };

  const requestOnce = createRequestOnce({ ...options, pendingRequests, store });

  const requestFresh = async (
    hash: string,
    { maxAgeMs, address }: CacheRequest,
  ): Promise<CachedResponse> => {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const cached = await requestOnce(hash, address);
      if (isWithinAge(cached, maxAgeMs)) return cached;
    }
    throw new Error("the auth-keys response arrived too late");
  };

  return {
    findFresh,
    get: async (hash, cacheRequest) => {
      const { maxAgeMs } = cacheRequest;
      const freshResponse = findFresh(hash, maxAgeMs);
      if (freshResponse !== undefined) return freshResponse;
      try {
        return await requestFresh(hash, cacheRequest);
      } catch (error) {
        const lastCached = maxAgeMs <= strictMaxAgeMs ? undefined : findCached(hash);
        if (lastCached === undefined || !isWithinAge(lastCached, staleMaxAgeMs)) {
          throw new IdentityUnavailable("the caller cannot be identified", { cause: error });
        }
        identityMetrics.staleResponses.inc({ kind });
        return lastCached;
      }
    },
    // A cached "not found" response stays valid, because a secret is never issued twice.
    invalidate: (hash) => {
      foundCache.delete(hash);
      pendingRequests.delete(hash);
    },
  };
};

type RequestOnceOptions = Omit<IntrospectionCacheOptions, "identityMetrics"> & {
  pendingRequests: Map<string, Promise<CachedResponse>>;
  store: (hash: string, cached: CachedResponse) => void;
};

/** Creates a function that sends a request for a credential or joins the pending one. */
const createRequestOnce =
  ({ kind, service, requestIntrospection, clock, pendingRequests, store }: RequestOnceOptions) =>
  (hash: string, address: string | undefined): Promise<CachedResponse> => {
    const pending = pendingRequests.get(hash);
    if (pending !== undefined) return pending;
    const requestedAt = readClocks(clock);
    // Only the registered request may store its response. If the session was invalidated in the
    // meantime, the response is not stored.
    const claimPending = (): boolean =>
      pendingRequests.get(hash) === request && pendingRequests.delete(hash);
    const request = requestIntrospection({
      kind,
      hash,
      address,
      ...(service === undefined ? {} : { service }),
    }).then(
      (response) => {
        const caller = response.found ? toCaller(response) : undefined;
        const cached: CachedResponse = { requestedAt, caller };
        if (claimPending()) store(hash, cached);
        return cached;
      },
      (error: unknown) => {
        claimPending();
        throw error;
      },
    );
    pendingRequests.set(hash, request);
    return request;
  };

const readClocks = (clock: Clock): ClockReading => ({
  wallClockMs: clock.now().getTime(),
  elapsedMs: clock.elapsedMs(),
});

/**
 * Returns a response's age as the larger age of the two clocks, because the wall clock can be set
 * back and the monotonic clock may pause while the machine sleeps. If the response comes from the
 * future, its age is unknown, so it counts as too old.
 */
const getAgeMs = (requestedAt: ClockReading, now: ClockReading): number => {
  const wallClockMs = now.wallClockMs - requestedAt.wallClockMs;
  return wallClockMs < 0 ? Infinity : Math.max(wallClockMs, now.elapsedMs - requestedAt.elapsedMs);
};

const toCaller = ({ account, credential }: FoundResponse): Caller => ({ account, credential });
