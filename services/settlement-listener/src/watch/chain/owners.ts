import type { Pool } from "@payment-links/postgres";
import {
  type RankedOwner,
  listByLatestLink,
  listOwnerAddresses,
} from "../../store/owner-addresses.ts";

/**
 * The addresses at which owners are paid on one chain, in the chain family's format. None is ever
 * removed.
 */
export type Owners = {
  /** Returns all known addresses. Returns the same array each time, with new addresses appended. */
  readAll: () => Promise<readonly string[]>;
  /**
   * Returns all known addresses in the order in which to query them: each account's latest address
   * first, newest links first. Only Solana stores that order.
   */
  readByLatestLink: () => Promise<readonly RankedOwner[]>;
};

/** Creates a reader that loads all owner addresses once, then only new ones. */
export const createOwners = (pool: Pool, chainId: string): Owners => {
  const allAddresses: string[] = [];
  const knownAddresses = new Set<string>();
  let cursor = "0";
  return {
    readAll: async () => {
      let newAddresses = await listOwnerAddresses(pool, chainId, cursor);
      // The cursor only goes back after a failover to a primary that lags behind the old one.
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

/** For chains that do not look for deposits. */
export const noOwners: Owners = { readAll: async () => [], readByLatestLink: async () => [] };
