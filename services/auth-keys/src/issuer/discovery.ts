import type { ServerMetadata } from "openid-client";
import { createApiError } from "@payment-links/contracts";
import { type Clock, type Log, backoffMs } from "@payment-links/runtime";
import { UpstreamUnavailableError } from "./issuer-fetch.ts";

type DiscoveryOptions = {
  clock: Clock;
  log: Log;
  /**
   * Fetches the provider's metadata. Throws if the metadata is invalid or belongs to another
   * provider.
   */
  discover: () => Promise<ServerMetadata>;
};

const cacheMs = 60 * 60 * 1000;
const backoff = { initialMs: 1_000, maxMs: 60_000 };

/**
 * Caches an identity provider's metadata (OpenID Connect Discovery §4) for one hour. Sends one
 * request at a time. After a failed request it pauses. During the pause, `get` throws the
 * `ApiError` OIDC_ISSUER_UNAVAILABLE without sending a request. The pause doubles with each
 * failure, up to one minute.
 */
export const createDiscovery = ({ clock, log, discover }: DiscoveryOptions) => {
  let cached: { metadata: ServerMetadata; atMs: number } | undefined;
  let failure: { atMs: number; retryDelayMs: number; consecutiveFailures: number } | undefined;
  let pendingDiscovery: Promise<ServerMetadata> | undefined;

  const getAgeMs = (atMs: number): number => clock.elapsedMs() - atMs;

  const discoverMetadata = async (): Promise<ServerMetadata> => {
    try {
      const metadata = await discover();
      cached = { metadata, atMs: clock.elapsedMs() };
      failure = undefined;
      return metadata;
    } catch (error) {
      const consecutiveFailures = (failure?.consecutiveFailures ?? 0) + 1;
      const retryDelayMs = backoffMs(consecutiveFailures, backoff);
      failure = { atMs: clock.elapsedMs(), retryDelayMs, consecutiveFailures };
      log.warn(
        { reason: getReason(error), pauseMs: retryDelayMs },
        "identity provider unavailable",
      );
      throw createApiError("OIDC_ISSUER_UNAVAILABLE");
    } finally {
      pendingDiscovery = undefined;
    }
  };

  return {
    get: (): Promise<ServerMetadata> => {
      if (cached !== undefined && getAgeMs(cached.atMs) < cacheMs)
        return Promise.resolve(cached.metadata);
      if (pendingDiscovery !== undefined) return pendingDiscovery;
      if (failure !== undefined && getAgeMs(failure.atMs) < failure.retryDelayMs) {
        return Promise.reject(createApiError("OIDC_ISSUER_UNAVAILABLE"));
      }
      pendingDiscovery = discoverMetadata();
      return pendingDiscovery;
    },
  };
};

/** The library wraps the error of the fetch function, but does not include its message. */
const getReason = (error: unknown): string => {
  const rootError =
    error instanceof Error && error.cause instanceof UpstreamUnavailableError ? error.cause : error;
  return rootError instanceof Error ? rootError.message : "unknown";
};
