import { Decimal } from "@payment-links/contracts";
import type { ChainOverride, ChainSettings } from "../../watch/chain/chain-settings.ts";

/**
 * The defaults for a block every 10 minutes. One confirmation settles small amounts, three settle
 * larger ones, and six settle the largest, as exchanges do. No reorg since 2013 was deeper than
 * `finalDepthBlocks`.
 */
const defaultSettings: ChainSettings = {
  // The number of blocks on top of a payment's own block, which is the first confirmation.
  finality: { blocks: 0 },
  finalityByAmount: [
    { from: new Decimal("0.05"), blocks: 2 },
    { from: new Decimal("1"), blocks: 5 },
  ],
  // Blocks are requested by hash, so a node that lacks one reports it.
  headLagBlocks: 0,
  finalDepthBlocks: 12,
  rangeBlocksMax: 10,
  pollMs: 5_000,
  isDisposable: false,
  storesKnownLinksOnly: true,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // Anyone can mine a block there 20 minutes after the last one, which causes block storms and
  // reorgs.
  "bitcoin-testnet4": { finalDepthBlocks: 100 },
  // A single node that mines on demand.
  "local-bitcoin": { pollMs: 250, isDisposable: true },
};

/** Returns the settings of a Bitcoin network. The operator's override wins over the defaults. */
export const bitcoinSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
