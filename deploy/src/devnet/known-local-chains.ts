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
    open: async (options) => (await import("./open-local-evm.ts")).openLocalEvm(options),
  },
  "local-solana": {
    catalogueData: localSolanaSeed,
    stateFile: "local-solana.jsonl",
    open: async (options) => (await import("./open-local-solana.ts")).openLocalSolana(options),
  },
  "local-tron": {
    catalogueData: localTronSeed,
    stateFile: "local-tron.json",
    open: async (options) => (await import("./open-local-tron.ts")).openLocalTron(options),
  },
  "local-bitcoin": {
    catalogueData: localBitcoinSeed,
    stateFile: "local-bitcoin.jsonl",
    open: async (options) => (await import("./open-local-bitcoin.ts")).openLocalBitcoin(options),
  },
} as const satisfies Record<string, KnownLocalChain>;

export type LocalChainName = keyof typeof knownLocalChains;

/** All of their names, the first one's chain being the demo's. */
export const localChainNames = Object.keys(knownLocalChains) as readonly LocalChainName[];

/** The id in the catalogue of the chain of a name. */
export const chainIdOf = (name: LocalChainName): string => chainOf(name).id;

/** How people call the chain of a name. */
export const titleOf = (name: LocalChainName): string => chainOf(name).name;

const chainOf = (name: LocalChainName) => {
  const [chain] = knownLocalChains[name].catalogueData.chains;
  if (chain === undefined) throw new Error(`${name} has no chain`);
  return chain;
};
