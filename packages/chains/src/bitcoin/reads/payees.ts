import { setImmediate as nextTurn } from "node:timers/promises";
import { type BitcoinChainId, toBitcoinScriptPubKey } from "../address.ts";
import type { Owners } from "../../reads/watched-chain.ts";
import type { FindPayee } from "./verify-transaction.ts";

/** The addresses of links, with a lookup by the script that pays them. */
export type KnownPayees = {
  findPayee: FindPayee;
  /**
   * The scripts, oldest first. Every read returns the same array, and new scripts are appended to
   * it.
   */
  scripts: readonly string[];
};

export type Payees = {
  /** Returns the addresses of all links that any process of this service has received. */
  read: () => Promise<KnownPayees>;
};

const scriptsPerTurnMax = 500;

/** Caches the script of each address, so each is computed only once. */
export const createPayees = (owners: Pick<Owners, "readAll">, chainId: BitcoinChainId): Payees => {
  const addressByScript = new Map<string, string>();
  const scripts: string[] = [];
  let indexedCount = 0;
  const indexAddresses = async (ownerAddresses: readonly string[]): Promise<KnownPayees> => {
    const addressCount = ownerAddresses.length;
    while (indexedCount < addressCount) {
      // The loop yields here, so a concurrent read may have processed more addresses.
      const address = ownerAddresses[indexedCount];
      indexedCount += 1;
      const script = address === undefined ? undefined : toScript(chainId, address);
      if (address !== undefined && script !== undefined) {
        addressByScript.set(script, address);
        scripts.push(script);
      }
      if (indexedCount % scriptsPerTurnMax === 0) await nextTurn();
    }
    return { findPayee: (script) => addressByScript.get(script), scripts };
  };
  return {
    read: async () => indexAddresses(await owners.readAll()),
  };
};

/**
 * Returns undefined for an address of another network. A link that was created before a catalogue
 * change can have such an address. It is never paid on this chain.
 */
const toScript = (chainId: BitcoinChainId, address: string): string | undefined => {
  try {
    return toBitcoinScriptPubKey(chainId, address);
  } catch {
    return undefined;
  }
};
