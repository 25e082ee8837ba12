import { setImmediate as nextTurn } from "node:timers/promises";
import { type BitcoinChainId, toBitcoinScriptPubKey } from "@payment-links/contracts";
import type { Owners } from "../../watch/chain/owners.ts";
import type { FindPayee } from "./verify-transaction.ts";

/** The addresses of links by the scripts that pay them. */
export type KnownPayees = {
  findPayee: FindPayee;
  /** The scripts, oldest first: the same list each time, with the new ones at its end. */
  scripts: readonly string[];
};

export type Payees = {
  /** Returns the addresses of all links that any process of the service has received. */
  read: () => Promise<KnownPayees>;
};

const scriptsPerTurnMax = 500;

/** Keeps the scripts of addresses; each is made once. */
export const createPayees = (owners: Pick<Owners, "readAll">, chainId: BitcoinChainId): Payees => {
  const addressByScript = new Map<string, string>();
  const scripts: string[] = [];
  let indexedCount = 0;
  const indexAddresses = async (ownerAddresses: readonly string[]): Promise<KnownPayees> => {
    const addressCount = ownerAddresses.length;
    while (indexedCount < addressCount) {
      // Another read may go on where this one rests.
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

/** An address of another network, of a link from before the catalogue was changed, is never paid here. */
const toScript = (chainId: BitcoinChainId, address: string): string | undefined => {
  try {
    return toBitcoinScriptPubKey(chainId, address);
  } catch {
    return undefined;
  }
};
