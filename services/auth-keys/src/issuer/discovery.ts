import type { ServerMetadata } from "openid-client";
import { refuse } from "@payment-links/contracts";
import { type Clock, type Log, backoffMs } from "@payment-links/runtime";
import { IssuerAway } from "./issuer-fetch.ts";

type DiscoveryOptions = {
  clock: Clock;
  log: Log;
  /** Fetches the provider's metadata; throws if it cannot be read or is not the provider's. */
  discover: () => Promise<ServerMetadata>;
};

const freshMs = 60 * 60 * 1000;
const backoff = { firstMs: 1_000, mostMs: 60_000 };

/**
 * What an identity provider says of itself (OpenID Connect Discovery §4), kept for an hour. Only
 * one request at a time asks for it. After a failure there is a pause that doubles up to a minute,
 * in which `get` throws the refusal OIDC_ISSUER_UNAVAILABLE at once.
 */
export const createDiscovery = ({ clock, log, discover }: DiscoveryOptions) => {
  let kept: { metadata: ServerMetadata; atMs: number } | undefined;
  let failure: { atMs: number; pauseMs: number; inRow: number } | undefined;
  let asking: Promise<ServerMetadata> | undefined;

  const ageMs = (atMs: number): number => clock.elapsedMs() - atMs;

  const ask = async (): Promise<ServerMetadata> => {
    try {
      const metadata = await discover();
      kept = { metadata, atMs: clock.elapsedMs() };
      failure = undefined;
      return metadata;
    } catch (error) {
      const inRow = (failure?.inRow ?? 0) + 1;
      const pauseMs = backoffMs(inRow, backoff);
      failure = { atMs: clock.elapsedMs(), pauseMs, inRow };
      log.warn({ reason: reasonOf(error), pauseMs }, "the identity provider cannot be used");
      throw refuse("OIDC_ISSUER_UNAVAILABLE");
    } finally {
      asking = undefined;
    }
  };

  return {
    get: (): Promise<ServerMetadata> => {
      if (kept !== undefined && ageMs(kept.atMs) < freshMs) return Promise.resolve(kept.metadata);
      if (asking !== undefined) return asking;
      if (failure !== undefined && ageMs(failure.atMs) < failure.pauseMs) {
        return Promise.reject(refuse("OIDC_ISSUER_UNAVAILABLE"));
      }
      asking = ask();
      return asking;
    },
  };
};

/** The library wraps what the fetch throws and does not tell it. */
const reasonOf = (error: unknown): string => {
  const told = error instanceof Error && error.cause instanceof IssuerAway ? error.cause : error;
  return told instanceof Error ? told.message : "unknown";
};
