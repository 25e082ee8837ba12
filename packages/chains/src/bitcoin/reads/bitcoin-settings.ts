import { Decimal } from "@payment-links/contracts";
import type { ChainOverride, ChainSettings } from "../../reads/chain-settings.ts";

/**
 * The defaults for a chain with a block every 10 minutes. Small amounts settle after one
 * confirmation, larger ones after three, and the largest after six, as is usual on exchanges.
 * `finalDepthBlocks` is deeper than any reorg since 2013.
 */
const defaultSettings: ChainSettings = {
  // The number of blocks required on top of the payment's own block. That block is the first
  // confirmation, so 0 means one confirmation.
  finality: { blocks: 0 },
  finalityByAmount: [
    { from: new Decimal("0.05"), blocks: 2 },
    { from: new Decimal("1"), blocks: 5 },
  ],
  // Blocks are requested by hash. A node that does not have a block yet returns an error, so there
  // is no need to stay behind the head.
  headLagBlocks: 0,
  finalDepthBlocks: 12,
  rangeBlocksMax: 10,
  pollMs: 5_000,
  isDisposable: false,
  storesKnownLinksOnly: true,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // On this testnet, anyone can mine a block 20 minutes after the last one, which causes bursts of
  // blocks and reorgs.
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
