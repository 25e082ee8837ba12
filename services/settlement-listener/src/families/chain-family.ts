import type { Catalogue, CatalogueChain } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import type { Owners } from "../watch/chain/owners.ts";
import type { WatchedChain } from "../watch/chain/watched-chain.ts";
import type { RpcMetrics } from "../rpc/rpc-metrics.ts";

/** The dependencies of a chain's readers. */
type ReadContext = {
  /** The URLs of the chain's providers, the preferred one first. They are secrets. */
  urls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  /**
   * The addresses that links of this chain are paid at. A transfer to one of them without a
   * reference is a deposit.
   */
  owners: Owners;
};

/**
 * Creates the watch of a catalogue chain with the operator's settings. Throws `ConfigError` if the
 * chain cannot receive payments. No request is sent until the returned function is called and its
 * readers are used.
 */
export type ChainFamily = (
  catalogue: Catalogue,
  chain: CatalogueChain,
  override: ChainOverride,
) => (context: ReadContext) => WatchedChain;
