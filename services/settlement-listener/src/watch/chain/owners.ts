import type { Owners } from "@payment-links/chains/watched-chain";
import type { Pool } from "@payment-links/postgres";
import { listByLatestLink, listOwnerAddresses } from "../../store/owner-addresses.ts";

/** Creates a reader that loads all owner addresses on the first call, and only new ones later. */
export const createOwners = (pool: Pool, chainId: string): Owners => {
  const allAddresses: string[] = [];
  const knownAddresses = new Set<string>();
  let cursor = "0";
  return {
    readAll: async () => {
      let newAddresses = await listOwnerAddresses(pool, chainId, cursor);
      // The cursor goes back only after a failover to a primary that lags behind the old one.
      if (BigInt(newAddresses.until) < BigInt(cursor))
        newAddresses = await listOwnerAddresses(pool, chainId, "0");
      const { addresses, until } = newAddresses;
      for (const address of addresses) {
        if (knownAddresses.has(address)) continue;
        knownAddresses.add(address);
        allAddresses.push(address);
      }
      cursor = until;
      return allAddresses;
    },
    readByLatestLink: () => listByLatestLink(pool, chainId),
  };
};
