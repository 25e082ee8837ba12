import { Decimal } from "@payment-links/contracts";
import type { ChainOverride, ChainSettings } from "../../watch/chain/chain-settings.ts";

/**
 * A block in ten minutes. One confirmation settles small amounts, three larger and six large ones, as
 * exchanges have it; below the depth of `finalDepthBlocks` no chain has been reorganized since 2013.
 */
const defaultSettings: ChainSettings = {
  // Blocks on top of a payment's own, which is the first confirmation.
  finality: { blocks: 0 },
  finalityByAmount: [
    { from: new Decimal("0.05"), blocks: 2 },
    { from: new Decimal("1"), blocks: 5 },
  ],
  // Blocks are asked for by their hashes: a node that lacks one says so.
  headLagBlocks: 0,
  finalDepthBlocks: 12,
  rangeBlocksMax: 10,
  pollMs: 5_000,
  isDisposable: false,
  storesKnownLinksOnly: true,
};

const settingsByChain: Readonly<Record<string, Partial<ChainSettings>>> = {
  // Anybody can mine a block there twenty minutes after the last one: storms of blocks come and go.
  "bitcoin-testnet4": { finalDepthBlocks: 100 },
  // One node, alone, whose blocks are made on demand.
  "local-bitcoin": { pollMs: 250, isDisposable: true },
};

/** The settings of a chain of Bitcoin: what is known of it, under what the operator says. */
export const bitcoinSettings = (chainId: string, override: ChainOverride = {}): ChainSettings => ({
  ...defaultSettings,
  ...settingsByChain[chainId],
  ...override,
});
