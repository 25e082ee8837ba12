import { setImmediate as nextTurn } from "node:timers/promises";
import { type BitcoinChainId, bitcoinScript } from "@payment-links/contracts";
import type { Owners } from "../../watch/chain/owners.ts";
import type { PayeeOf } from "./verify-transaction.ts";

/** The addresses of links by the scripts that pay them. */
export type KnownPayees = {
  payeeOf: PayeeOf;
  /** The scripts, oldest first: the same list each time, with the new ones at its end. */
  scripts: readonly string[];
};

export type Payees = {
  /** Returns the addresses of all links that any process of the service has received. */
  read: () => Promise<KnownPayees>;
};

const madeAtOnceMax = 500;

/** Keeps the scripts of addresses; each is made once. */
export const openPayees = (owners: Pick<Owners, "read">, chainId: BitcoinChainId): Payees => {
  const addresses = new Map<string, string>();
  const scripts: string[] = [];
  let madeCount = 0;
  const keep = async (list: readonly string[]): Promise<KnownPayees> => {
    const until = list.length;
    while (madeCount < until) {
      // Another read may go on where this one rests.
      const address = list[madeCount];
      madeCount += 1;
      const script = address === undefined ? undefined : scriptOf(chainId, address);
      if (address !== undefined && script !== undefined) {
        addresses.set(script, address);
        scripts.push(script);
      }
      if (madeCount % madeAtOnceMax === 0) await nextTurn();
    }
    return { payeeOf: (script) => addresses.get(script), scripts };
  };
  return {
    read: async () => keep(await owners.read()),
  };
};

/** An address of another network, of a link from before the catalogue was changed, is never paid here. */
const scriptOf = (chainId: BitcoinChainId, address: string): string | undefined => {
  try {
    return bitcoinScript(chainId, address);
  } catch {
    return undefined;
  }
};
