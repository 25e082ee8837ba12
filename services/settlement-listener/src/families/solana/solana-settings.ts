import type { ChainOverride, ChainSettings } from "../../watch/chain/chain-settings.ts";

/**
 * What is confirmed is read and shown; what is finalized, after 31 more blocks, settles. Blocks are
 * slots of 0.4 s.
 */
const defaultSettings: ChainSettings = {
  finality: "finalized",
  headLagBlocks: 2,
  // Each node knows what is final.
  finalDepthBlocks: 150,
  // An hour.
  rangeBlocksMax: 9_000,
  pollMs: 2_000,
  isDisposable: false,
  isSparse: true,
  // Half an hour: the audit asks for every account.
  auditBlocksMin: 4_500,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // One node, alone, whose blocks are made on demand. LiteSVM's slots begin there.
  "local-solana": {
    headLagBlocks: 0,
    pollMs: 250,
    isDisposable: true,
    firstBlock: 447_552_000,
    auditBlocksMin: 1,
  },
};

/** The settings of a chain of Solana: what is known of it, under what the operator says. */
export const solanaSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
