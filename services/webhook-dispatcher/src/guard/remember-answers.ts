import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Resolve } from "./resolver.ts";

/**
 * How long a DNS answer is trusted, whatever its TTL says: within this time we notice that a host
 * has moved.
 */
export const rememberedMs = 10_000;

const hostsMax = 1_000;

/**
 * Asks DNS about a host at most once in ten seconds, however many attempts go there. Attempts that
 * come while DNS is being asked share that question. A host without an answer is asked about again
 * at once.
 */
export const rememberAnswers = (resolve: Resolve, { clock }: { clock: Clock }): Resolve => {
  const answers = new LRUCache<string, { askedAtMs: number; addresses: ReturnType<Resolve> }>({
    max: hostsMax,
  });
  const forget = (hostName: string, addresses: ReturnType<Resolve>): void => {
    if (answers.peek(hostName)?.addresses === addresses) answers.delete(hostName);
  };
  return (hostName) => {
    const nowMs = clock.elapsedMs();
    const known = answers.get(hostName);
    if (known !== undefined && nowMs - known.askedAtMs < rememberedMs) return known.addresses;
    const addresses = resolve(hostName);
    answers.set(hostName, { askedAtMs: nowMs, addresses });
    addresses.catch(() => forget(hostName, addresses));
    return addresses;
  };
};
