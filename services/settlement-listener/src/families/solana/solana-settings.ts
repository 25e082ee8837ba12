import type { ChainOverride, ChainSettings } from "../../watch/chain/chain-settings.ts";

/**
 * Confirmed blocks are read and shown. Finalized blocks, 31 blocks later, settle payments. Blocks
 * are slots of 0.4 s.
 */
const defaultSettings: ChainSettings = {
  finality: "finalized",
  headLagBlocks: 2,
  // Each node reports its finalized slot, so this only limits how far a fork may move a
  // transaction.
  finalDepthBlocks: 150,
  // One hour.
  rangeBlocksMax: 9_000,
  pollMs: 2_000,
  isDisposable: false,
  isSparse: true,
  // Half an hour, because the audit requests every account.
  auditBlocksMin: 4_500,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // A single node that mines on demand. LiteSVM's slots start at `firstBlock`.
  "local-solana": {
    headLagBlocks: 0,
    pollMs: 250,
    isDisposable: true,
    firstBlock: 447_552_000,
    auditBlocksMin: 1,
  },
};

/** Returns the settings of a Solana network. The operator's override wins over the defaults. */
export const solanaSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
