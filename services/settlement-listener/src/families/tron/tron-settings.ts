import type { ChainOverride, ChainSettings } from "../../watch/chain/chain-settings.ts";

/**
 * A block in 3 s, made by 27 producers in turn; one is final ("solid") once 19 of them have built on
 * it, after about a minute. There is no `safe`. A node answers for 5,000 blocks, hosts for fewer, which
 * is learnt.
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
  // One node, alone, which may begin anew with each start.
  "local-tron": { finality: { blocks: 1 }, headLagBlocks: 0, pollMs: 250, isDisposable: true },
};

/** The settings of a Tron: what is known of it, under what the operator says. */
export const tronSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
