import { devnet } from "@payment-links/contracts";
import type { ChainOverride, ChainSettings } from "../../reads/chain-settings.ts";

/**
 * A payment settles at `finalized` on chains where finality takes only seconds. On other chains it
 * settles at `safe`, which means that the block was justified or posted to the parent chain. The
 * depths are those at which exchanges and indexers consider a block final.
 */
const defaultSettings: ChainSettings = {
  finality: "finalized",
  headLagBlocks: 1,
  finalDepthBlocks: 65,
  rangeBlocksMax: 2_000,
  pollMs: 2_000,
  isDisposable: false,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // Ethereum and its testnet have a block every 12 s, which is final after about 13 minutes.
  "1": { finality: "safe", pollMs: 4_000 },
  "11155111": { finality: "safe", pollMs: 4_000 },
  // OP Mainnet and Base have a block every 2 s, which is safe once it is posted to Ethereum.
  "10": { finality: "safe", headLagBlocks: 2, finalDepthBlocks: 900 },
  "8453": { finality: "safe", headLagBlocks: 2, finalDepthBlocks: 900 },
  "84532": { finality: "safe", headLagBlocks: 2, finalDepthBlocks: 900 },
  // Polygon PoS finalizes blocks within seconds by milestones.
  "137": { headLagBlocks: 2, finalDepthBlocks: 200 },
  // Arbitrum One has four blocks per second.
  "42161": { finality: "safe", headLagBlocks: 8, finalDepthBlocks: 4_800, pollMs: 1_000 },
  // On Avalanche, accepted blocks are final.
  "43114": { headLagBlocks: 1, finalDepthBlocks: 30 },
  // A single node that mines one block per transaction.
  [devnet.chainId]: {
    finality: { blocks: 1 },
    headLagBlocks: 0,
    finalDepthBlocks: 64,
    pollMs: 250,
    isDisposable: true,
  },
};

/** Returns the settings of an EVM chain. The operator's override wins over the defaults. */
export const evmSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
