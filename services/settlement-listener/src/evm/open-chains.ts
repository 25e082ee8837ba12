import type { Ground } from "@payment-links/process";
import type { SettlementListenerConfig } from "../config.ts";
import { createChainMetrics } from "./chain/chain-metrics.ts";
import { chainSettings } from "./chain/chain-settings.ts";
import { openChainReaders } from "./rpc/open-chain-readers.ts";
import { createRpcMetrics } from "./rpc/rpc-metrics.ts";
import { createShare } from "./lease.ts";
import { type RunningWatch, startWatch } from "./start-watch.ts";
import { openWatchedChain, proxyEventsOf } from "./chain/watched-chain.ts";

/** The chains that a process leads before it lets other replicas go first. */
const ledAtOnceMax = 10;

/** The chains that are configured; nothing is asked of them before `start`. */
export type Chains = {
  ids: readonly string[];
  start: () => void;
  /** Those started and not stopped. */
  watches: () => readonly RunningWatch[];
  /** Lets the steps under way end, and gives every lead up. */
  stop: () => Promise<void>;
};

/**
 * Opens the configured chains; throws ConfigError where the catalogue has no fee proxies on one.
 */
export const openChains = (
  ground: Ground,
  { rpcUrls, chainOverrides }: Pick<SettlementListenerConfig, "rpcUrls" | "chainOverrides">,
  wakeRelay: () => void,
): Chains => {
  const { catalogue, clock, log, metrics, pool } = ground;
  const chains = [...rpcUrls].map(([id, urls]) => ({
    chain: openWatchedChain(catalogue, id, chainSettings(id, chainOverrides[id])),
    urls,
  }));
  const chainMetrics = createChainMetrics(metrics);
  const rpcMetrics = createRpcMetrics(metrics);
  let running: { watch: RunningWatch; close: () => void }[] = [];
  return {
    ids: chains.map(({ chain }) => chain.id),
    start: () => {
      const share = createShare(ledAtOnceMax);
      running = chains.map(({ chain, urls }) => {
        const readers = openChainReaders({
          chainId: chain.id,
          urls,
          proxies: proxyEventsOf(chain),
          rangeBlocksMax: chain.settings.rangeBlocksMax,
          isBloomKept: chain.settings.isBloomKept,
          clock,
          log,
          metrics: rpcMetrics,
        });
        const shared = { pool, clock, log, metrics: chainMetrics, wakeRelay };
        const { close, ...reading } = readers;
        return { watch: startWatch({ chain, ...reading, ...shared }, share), close };
      });
    },
    watches: () => running.map(({ watch }) => watch),
    stop: async () => {
      const stopping = running;
      running = [];
      const stopped = Promise.all(stopping.map(({ watch }) => watch.stop()));
      // What is being asked is given up, as it may take its whole time-out.
      for (const { close } of stopping) close();
      await stopped;
    },
  };
};
