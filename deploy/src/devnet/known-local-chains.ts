import { devnetSeed } from "@payment-links/contracts";
import type { KnownLocalChain } from "./local-chain.ts";
import { localBitcoinSeed, localSolanaSeed, localTronSeed } from "./local-seeds.ts";

/**
 * The chains for development that `npm start` opens, by the names that DEVNET_CHAINS takes. Each is
 * imported when it is opened: what it runs on are devDependencies, which a production image leaves out.
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

/** All of their names, the first one's chain being the demo's. */
export const localChainNames = Object.keys(knownLocalChains) as readonly LocalChainName[];

/** The id in the catalogue of the chain of a name. */
export const getChainId = (name: LocalChainName): string => getChain(name).id;

/** How people call the chain of a name. */
export const getChainTitle = (name: LocalChainName): string => getChain(name).name;

const getChain = (name: LocalChainName) => {
  const [chain] = knownLocalChains[name].catalogueData.chains;
  if (chain === undefined) throw new Error(`${name} has no chain`);
  return chain;
};
