import type { Pool } from "@payment-links/postgres";
import {
  type RankedOwner,
  listByHearing,
  listOwnerAddresses,
} from "../../store/owner-addresses.ts";

/** Where owners are paid on one chain, in the family's own form. They only become more. */
export type Owners = {
  /** All that are heard of by now; the same list each time, with the new ones at its end. */
  read: () => Promise<readonly string[]>;
  /** All of them in the order in which they are asked for; that order is kept on Solana alone. */
  readByHearing: () => Promise<readonly RankedOwner[]>;
};

/** Reads owners' addresses, and afterwards only what is new. */
export const openOwners = (pool: Pool, chainId: string): Owners => {
  const list: string[] = [];
  const seen = new Set<string>();
  let since = "0";
  return {
    read: async () => {
      let news = await listOwnerAddresses(pool, chainId, since);
      // Only another primary, which took over and had heard of less, counts from further back.
      if (BigInt(news.until) < BigInt(since)) news = await listOwnerAddresses(pool, chainId, "0");
      const { addresses, until } = news;
      for (const address of addresses) {
        if (seen.has(address)) continue;
        seen.add(address);
        list.push(address);
      }
      since = until;
      return list;
    },
    readByHearing: () => listByHearing(pool, chainId),
  };
};

/** Of a chain on which no deposits are looked for. */
export const noOwners: Owners = { read: async () => [], readByHearing: async () => [] };
