import { LRUCache } from "lru-cache";
import type { IntrospectionResponse, IntrospectionRequest } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import { type RequestIntrospection, type Caller, IdentityUnavailable } from "./caller.ts";
import type { IdentityMetrics } from "./identity-metrics.ts";

/**
 * What auth-keys said of a credential. No caller means that it knows none. The age counts from the
 * question.
 */
type CachedResponse = { requestedAt: ClockReading; caller: Caller | undefined };

/** By the time of day, and by the clock that is never set back. */
type ClockReading = { wallClockMs: number; elapsedMs: number };

/** How fresh an answer must be, and from which address the credential is used, if that is told. */
type CacheRequest = { maxAgeMs: number; address?: string | undefined };

/** The answers about one kind of credential, by its hash. */
export type IntrospectionCache = {
  /** The answer that is kept, if it is at most `maxAgeMs` old. */
  findFresh(hash: string, maxAgeMs: number): CachedResponse | undefined;
  /**
   * An answer at most `maxAgeMs` old, otherwise a stale one if that is allowed, otherwise
   * IdentityUnavailable.
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

/** Callers that want an answer this fresh change something, and never take a stale one. */
const strictMaxAgeMs = 1_000;
const staleMaxAgeMs = 60_000;
const notFoundMaxAgeMs = 5_000;
/**
 * The first question may have been under way already, and a pod that starts or ends can hold up the
 * next one.
 */
const attemptsMax = 3;
const foundMax = 10_000;
const notFoundMax = 10_000;

/** Keeps answers, and asks one question at a time per credential, however many callers wait for it. */
export const createIntrospectionCache = (
  options: IntrospectionCacheOptions,
): IntrospectionCache => {
  const { kind, clock, identityMetrics } = options;
  // They are apart so that a flood of invented keys pushes no real key out.
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
    throw new Error("the answer of auth-keys came too late");
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
          throw new IdentityUnavailable("it cannot be told who is calling", { cause: error });
        }
        identityMetrics.staleResponses.inc({ kind });
        return lastCached;
      }
    },
    // What auth-keys did not know stays unknown: a secret is never given out twice.
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

/** Creates what asks about a credential, or joins the question about it that is pending. */
const createRequestOnce =
  ({ kind, service, requestIntrospection, clock, pendingRequests, store }: RequestOnceOptions) =>
  (hash: string, address: string | undefined): Promise<CachedResponse> => {
    const pending = pendingRequests.get(hash);
    if (pending !== undefined) return pending;
    const requestedAt = readClocks(clock);
    // A session that was forgotten meanwhile stays forgotten: only the question on record keeps its
    // answer.
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
 * The time of day can be set back, and the other clock may rest while its machine does: an answer is as old
 * as either says. One from the future is of unknown age, and counts as too old.
 */
const getAgeMs = (requestedAt: ClockReading, now: ClockReading): number => {
  const wallClockMs = now.wallClockMs - requestedAt.wallClockMs;
  return wallClockMs < 0 ? Infinity : Math.max(wallClockMs, now.elapsedMs - requestedAt.elapsedMs);
};

const toCaller = ({ account, credential }: FoundResponse): Caller => ({ account, credential });
