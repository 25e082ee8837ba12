import type { ChainOverride, ChainSettings } from "../../reads/chain-settings.ts";

/**
 * The defaults for a chain with a block every 3 s, produced by 27 producers in turn. A block is
 * final ("solid") once 19 of them have built on it, which takes about a minute. There is no `safe`
 * tag. Nodes accept log requests for up to 5,000 blocks. Hosts accept fewer, and the reader adapts
 * to that.
 */
const defaultSettings: ChainSettings = {
  finality: "finalized",
  headLagBlocks: 1,
  finalDepthBlocks: 27,
  rangeBlocksMax: 5_000,
  pollMs: 3_000,
  isDisposable: false,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // A single node that can restart from its first block.
  "local-tron": { finality: { blocks: 1 }, headLagBlocks: 0, pollMs: 250, isDisposable: true },
};

/** Returns the settings of a Tron network. The operator's override wins over the defaults. */
export const tronSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
