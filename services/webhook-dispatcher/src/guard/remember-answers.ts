import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Resolve } from "./resolver.ts";

/** How long an answer of DNS is believed, whatever its TTL says: a host that moves is heard of by then. */
export const rememberedMs = 10_000;

const hostsMax = 1_000;

/**
 * Asks DNS about a host once in ten seconds, however many attempts go there; those that come while it
 * is being asked share the question. A host without an answer is asked for again at once.
 */
export const rememberAnswers = (resolve: Resolve, { clock }: { clock: Clock }): Resolve => {
  const answers = new LRUCache<string, { askedAtMs: number; addresses: ReturnType<Resolve> }>({
    max: hostsMax,
  });
  const forget = (hostName: string, addresses: ReturnType<Resolve>): void => {
    if (answers.peek(hostName)?.addresses === addresses) answers.delete(hostName);
  };
  return (hostName) => {
    const nowMs = clock.now().getTime();
    const known = answers.get(hostName);
    if (known !== undefined && nowMs - known.askedAtMs < rememberedMs) return known.addresses;
    const addresses = resolve(hostName);
    answers.set(hostName, { askedAtMs: nowMs, addresses });
    addresses.catch(() => forget(hostName, addresses));
    return addresses;
  };
};
