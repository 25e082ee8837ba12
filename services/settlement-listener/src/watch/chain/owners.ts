import type { Pool } from "@payment-links/postgres";
import {
  type RankedOwner,
  listByLatestLink,
  listOwnerAddresses,
} from "../../store/owner-addresses.ts";

/** Where owners are paid on one chain, in the family's own form. They only become more. */
export type Owners = {
  /** All that are heard of by now; the same list each time, with the new ones at its end. */
  readAll: () => Promise<readonly string[]>;
  /** All of them in the order in which they are asked for; that order is kept on Solana alone. */
  readByLatestLink: () => Promise<readonly RankedOwner[]>;
};

/** Reads owners' addresses, and afterwards only what is new. */
export const createOwners = (pool: Pool, chainId: string): Owners => {
  const allAddresses: string[] = [];
  const knownAddresses = new Set<string>();
  let cursor = "0";
  return {
    readAll: async () => {
      let newAddresses = await listOwnerAddresses(pool, chainId, cursor);
      // Only another primary, which took over and had heard of less, counts from further back.
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

/** Of a chain on which no deposits are looked for. */
export const noOwners: Owners = { readAll: async () => [], readByLatestLink: async () => [] };
