import type { ServerMetadata } from "openid-client";
import { createApiError } from "@payment-links/contracts";
import { type Clock, type Log, backoffMs } from "@payment-links/runtime";
import { UpstreamUnavailableError } from "./issuer-fetch.ts";

type DiscoveryOptions = {
  clock: Clock;
  log: Log;
  /** Fetches the provider's metadata; throws if it cannot be read or is not the provider's. */
  discover: () => Promise<ServerMetadata>;
};

const cacheMs = 60 * 60 * 1000;
const backoff = { initialMs: 1_000, maxMs: 60_000 };

/**
 * What an identity provider says of itself (OpenID Connect Discovery §4), kept for an hour. Only
 * one request at a time asks for it. After a failure there is a pause that doubles up to a minute,
 * in which `get` throws the refusal OIDC_ISSUER_UNAVAILABLE at once.
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
        "the identity provider cannot be used",
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

/** The library wraps what the fetch throws and does not tell it. */
const getReason = (error: unknown): string => {
  const rootError =
    error instanceof Error && error.cause instanceof UpstreamUnavailableError ? error.cause : error;
  return rootError instanceof Error ? rootError.message : "unknown";
};
