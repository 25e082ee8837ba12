import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Resolve } from "./resolver.ts";

/**
 * How long a DNS result is cached, regardless of its TTL. A host's new address is used within this
 * time.
 */
export const dnsCacheMs = 10_000;

const hostsMax = 1_000;

/**
 * Queries DNS at most once in ten seconds per host, for any number of attempts. Attempts that start
 * during a query share its result. A failed query is not cached.
 */
export const cacheDnsLookups = (resolve: Resolve, { clock }: { clock: Clock }): Resolve => {
  const cachedLookups = new LRUCache<
    string,
    { queriedAtMs: number; addresses: ReturnType<Resolve> }
  >({
    max: hostsMax,
  });
  const evict = (hostName: string, addresses: ReturnType<Resolve>): void => {
    if (cachedLookups.peek(hostName)?.addresses === addresses) cachedLookups.delete(hostName);
  };
  return (hostName) => {
    const nowMs = clock.elapsedMs();
    const cached = cachedLookups.get(hostName);
    if (cached !== undefined && nowMs - cached.queriedAtMs < dnsCacheMs) return cached.addresses;
    const addresses = resolve(hostName);
    cachedLookups.set(hostName, { queriedAtMs: nowMs, addresses });
    addresses.catch(() => evict(hostName, addresses));
    return addresses;
  };
};
