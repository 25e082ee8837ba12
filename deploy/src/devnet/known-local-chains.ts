import { devnetSeed } from "@payment-links/contracts";
import type { KnownLocalChain } from "./local-chain.ts";
import { localBitcoinSeed, localSolanaSeed, localTronSeed } from "./local-seeds.ts";

/**
 * The development chains of `npm start`, by their names in DEVNET_CHAINS. Each module is imported
 * only when its chain starts, because it needs devDependencies that production images do not
 * contain.
 */
export const knownLocalChains = {
  "local-evm": {
    catalogueData: devnetSeed,
    stateFile: "devnet.json",
    start: async (options) => (await import("./start-local-evm.ts")).startLocalEvm(options),
  },
  "local-solana": {
    catalogueData: localSolanaSeed,
    stateFile: "local-solana.jsonl",
    start: async (options) => (await import("./start-local-solana.ts")).startLocalSolana(options),
  },
  "local-tron": {
    catalogueData: localTronSeed,
    stateFile: "local-tron.json",
    start: async (options) => (await import("./start-local-tron.ts")).startLocalTron(options),
  },
  "local-bitcoin": {
    catalogueData: localBitcoinSeed,
    stateFile: "local-bitcoin.jsonl",
    start: async (options) => (await import("./start-local-bitcoin.ts")).startLocalBitcoin(options),
  },
} as const satisfies Record<string, KnownLocalChain>;

export type LocalChainName = keyof typeof knownLocalChains;

/** The names of all local chains; the first one is the demo's chain. */
export const localChainNames = Object.keys(knownLocalChains) as readonly LocalChainName[];

/** Returns the chain's id in the catalogue. */
export const getChainId = (name: LocalChainName): string => getChain(name).id;

/** Returns the chain's display name. */
export const getChainTitle = (name: LocalChainName): string => getChain(name).name;

const getChain = (name: LocalChainName) => {
  const [chain] = knownLocalChains[name].catalogueData.chains;
  if (chain === undefined) throw new Error(`${name} has no chain`);
  return chain;
};
