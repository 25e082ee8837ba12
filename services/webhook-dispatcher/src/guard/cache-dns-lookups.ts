import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Resolve } from "./resolver.ts";

/**
 * How long a DNS answer is trusted, whatever its TTL says: within this time we notice that a host
 * has moved.
 */
export const dnsCacheMs = 10_000;

const hostsMax = 1_000;

/**
 * Asks DNS about a host at most once in ten seconds, however many attempts go there. Attempts that
 * come while DNS is being asked share that question. A host without an answer is asked about again
 * at once.
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
