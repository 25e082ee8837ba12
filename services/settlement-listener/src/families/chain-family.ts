import type { Catalogue, CatalogueChain } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import type { Owners } from "../watch/chain/owners.ts";
import type { WatchedChain } from "../watch/chain/watched-chain.ts";
import type { RpcMetrics } from "../rpc/rpc-metrics.ts";

/** What a chain's readers need to run. */
type ReadContext = {
  /** Secrets: the addresses of the chain's providers, the first one preferred. */
  urls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  /** Whom links of the chain pay to; a transfer there without a reference is a deposit. */
  owners: Owners;
};

/**
 * A family of chains: says how a chain of the catalogue is watched, under what an operator sets for
 * it. Throws ConfigError where nobody can be paid on the chain. Nothing is asked of it before the
 * answer is called, and then read.
 */
export type ChainFamily = (
  catalogue: Catalogue,
  chain: CatalogueChain,
  override: ChainOverride,
) => (context: ReadContext) => WatchedChain;
