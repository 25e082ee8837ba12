import { isIP } from "node:net";
import { LRUCache } from "lru-cache";
import type { Pool } from "undici";
import { resolvePublic } from "../../guard/resolve-public.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { getHostname } from "../../guard/webhook-url.ts";

/** Keep-alive connections to receivers, by origin. */
export type CheckedPools = {
  /**
   * Checks the host again and returns the connections to its origin. If the check fails, closes the
   * existing connections and throws `BlockedAddressError` or `UnresolvedHostError`.
   */
  get(url: URL): Promise<Pool>;
  /** Closes all connections. Call it only when no request is in progress. */
  close(): Promise<void>;
};

type CheckedPoolsOptions = {
  /** Resolves a host, possibly from a short-lived cache. */
  resolve: Resolve;
  createPool: (origin: string) => Pool;
};

const originsMax = 1_000;

/**
 * Keeps the connections to an origin while DNS returns the same checked addresses. When the
 * addresses change, the next attempt opens new connections, and each old one closes after its last
 * response.
 */
export const createCheckedPools = ({ resolve, createPool }: CheckedPoolsOptions): CheckedPools => {
  const cachedPools = new LRUCache<string, { addresses: string; pool: Pool }>({
    max: originsMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  });

  const resolveCheckedAddresses = async (host: string): Promise<string> => {
    // An IP literal does not need a lookup. The connector checks it.
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
