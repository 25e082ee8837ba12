import type { ChainOverride, ChainSettings } from "../../reads/chain-settings.ts";

/**
 * The default settings. Payments in `confirmed` blocks are published as processing, and payments in
 * `finalized` blocks, 31 blocks later, settle. Slots serve as block numbers, and each takes 0.4 s.
 */
const defaultSettings: ChainSettings = {
  finality: "finalized",
  headLagBlocks: 2,
  // Each node reports its finalized slot itself, so this value only limits how far a fork can move
  // a transaction.
  finalDepthBlocks: 150,
  // One hour.
  rangeBlocksMax: 9_000,
  pollMs: 2_000,
  isDisposable: false,
  isSparse: true,
  // Audits run every half hour, because each one requests all accounts.
  auditBlocksMin: 4_500,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // A single node that produces blocks on demand. LiteSVM's slots start at `firstBlock`.
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
