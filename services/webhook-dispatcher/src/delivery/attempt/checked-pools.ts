import { isIP } from "node:net";
import { LRUCache } from "lru-cache";
import type { Pool } from "undici";
import { resolvePublic } from "../../guard/resolve-public.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { getHostname } from "../../guard/webhook-url.ts";

/** Kept-alive connections to strangers, by origin. */
export type CheckedPools = {
  /**
   * The connections to an origin, once its host has passed the check made now. Otherwise drops the
   * ones it had, and throws BlockedAddressError or UnresolvedHostError.
   */
  get(url: URL): Promise<Pool>;
  /** Ends every connection; to be called once no call is under way. */
  close(): Promise<void>;
};

type CheckedPoolsOptions = {
  /** What DNS says now, or said a moment ago. */
  resolve: Resolve;
  createPool: (origin: string) => Pool;
};

const originsMax = 1_000;

/**
 * Keeps connections for as long as DNS gives for their host the addresses that were checked. When
 * it gives others, the next attempt opens new connections, and the old ones end with their last
 * answer.
 */
export const createCheckedPools = ({ resolve, createPool }: CheckedPoolsOptions): CheckedPools => {
  const cachedPools = new LRUCache<string, { addresses: string; pool: Pool }>({
    max: originsMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  });

  const resolveCheckedAddresses = async (host: string): Promise<string> => {
    // A literal is its own address, and the connector judges it.
    if (isIP(host) !== 0) return host;
    const addresses = await resolvePublic(resolve, host);
    return addresses
      .map(({ address }) => address)
      .toSorted()
      .join();
  };

  return {
    get: async (url) => {
      const { origin } = url;
      try {
        const addresses = await resolveCheckedAddresses(getHostname(url));
        const cached = cachedPools.get(origin);
        if (cached?.addresses === addresses) return cached.pool;
        const pool = createPool(origin);
        cachedPools.set(origin, { addresses, pool });
        return pool;
      } catch (error) {
        cachedPools.delete(origin);
        throw error;
      }
    },
    close: async () => {
      const pools = [...cachedPools.values()].map(({ pool }) => pool);
      await Promise.all(pools.map((pool) => pool.destroy()));
      cachedPools.clear();
    },
  };
};
