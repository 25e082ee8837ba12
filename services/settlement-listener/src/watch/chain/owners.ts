import type { Pool } from "@payment-links/postgres";
import {
  type RankedOwner,
  listByLatestLink,
  listOwnerAddresses,
} from "../../store/owner-addresses.ts";

/**
 * The addresses of owners on one chain, in the chain family's format. No address is ever removed.
 */
export type Owners = {
  /**
   * Returns all known addresses. Every call returns the same array, to which new addresses are
   * appended.
   */
  readAll: () => Promise<readonly string[]>;
  /**
   * Returns all known addresses in the order in which to query them. The first address of each
   * account comes first, then recent links before old ones. Only Solana stores the data for this
   * order.
   */
  readByLatestLink: () => Promise<readonly RankedOwner[]>;
};

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

/** For chains that do not detect deposits. */
export const noOwners: Owners = { readAll: async () => [], readByLatestLink: async () => [] };
