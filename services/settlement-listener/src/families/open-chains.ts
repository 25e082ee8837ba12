import type { AskSolana, AskUsedAddresses, ChainType } from "@payment-links/contracts";
import type { Ground } from "@payment-links/process";
import type { SettlementListenerConfig } from "../config.ts";
import type { Payment } from "../domain/payment.ts";
import { createRpcMetrics } from "../rpc/rpc-metrics.ts";
import { createChainMetrics } from "../watch/chain/chain-metrics.ts";
import { reportOrphanedSettled } from "../watch/chain/report-orphaned-settled.ts";
import { openOwners } from "../watch/chain/owners.ts";
import { createShare } from "../watch/lease.ts";
import { type RunningWatch, startWatch } from "../watch/start-watch.ts";
import { configFault } from "./config-fault.ts";
import { bitcoinFamily } from "./bitcoin/bitcoin-family.ts";
import { evmFamily } from "./evm/evm-family.ts";
import type { Family } from "./family.ts";
import { refuseIdleSettings } from "./refuse-idle-settings.ts";
import { solanaFamily } from "./solana/solana-family.ts";
import { tronFamily } from "./tron/tron-family.ts";

/** The families that are watched. */
const families: Partial<Record<ChainType, Family>> = {
  BVM: bitcoinFamily,
  EVM: evmFamily,
  SVM: solanaFamily,
  TVM: tronFamily,
};

/** The chains that a process leads before it lets other replicas go first. */
const ledAtOnceMax = 10;

/** The chains that are configured; nothing is asked of them before `start`. */
export type Chains = {
  ids: readonly string[];
  /** Tells operators of settled payments that a chain took away. */
  reportOrphanedSettled: (chainId: string, flagged: readonly Payment[]) => void;
  start: () => void;
  /** Those started and not stopped. */
  watches: () => readonly RunningWatch[];
  /** What a payer's transaction on Solana is made of; undefined for a chain that is not watched. */
  askSolana: AskSolana;
  /** Which addresses of Bitcoin were used; rejects if no node can tell. */
  askUsedAddresses: AskUsedAddresses;
  /** Lets the steps under way end, and gives every lead up. */
  stop: () => Promise<void>;
};

/**
 * Opens the configured chains; throws ConfigError where nobody can be paid on one, or a setting is none
 * of its chain.
 */
export const openChains = (
  ground: Ground,
  config: Pick<SettlementListenerConfig, "rpcUrls" | "chainOverrides" | "transferChains">,
  wakeRelay: () => void,
): Chains => {
  const { catalogue, clock, log, metrics, pool } = ground;
  const { chainOverrides, rpcUrls } = config;
  refuseIdleSettings(catalogue, config);
  const chains = [...rpcUrls].map(([id, urls]) => {
    const chain = catalogue.chains.find((one) => one.id === id);
    const family = chain === undefined ? undefined : families[chain.chainType];
    if (chain === undefined || family === undefined) {
      throw configFault(`the catalogue has no chain ${id} that can be watched`);
    }
    return { id, urls, open: family(catalogue, chain, chainOverrides[id] ?? {}) };
  });
  const chainMetrics = createChainMetrics(metrics);
  const rpcMetrics = createRpcMetrics(metrics);
  let running: {
    watch: RunningWatch;
    close: () => void;
    askSolana: AskSolana | undefined;
    askUsedAddresses: AskUsedAddresses | undefined;
  }[] = [];
  return {
    ids: chains.map(({ id }) => id),
    reportOrphanedSettled: (chainId, flagged) =>
      reportOrphanedSettled({ log, metrics: chainMetrics }, chainId, flagged),
    start: () => {
      const share = createShare(ledAtOnceMax);
      running = chains.map(({ id: chainId, urls, open }) => {
        const opened = open({
          urls,
          clock,
          log,
          metrics: rpcMetrics,
          owners: openOwners(pool, chainId),
        });
        const { askSolana, askUsedAddresses, close, ...chainParts } = opened;
        const { id, settings, findFault, moreBlocksOf, ...reading } = chainParts;
        const chain = { id, settings, findFault, ...(moreBlocksOf && { moreBlocksOf }) };
        const shared = { pool, clock, log, metrics: chainMetrics, wakeRelay };
        const watch = startWatch({ chain, ...reading, ...shared }, share);
        return { watch, close, askSolana, askUsedAddresses };
      });
    },
    watches: () => running.map(({ watch }) => watch),
    askSolana: async (question) => {
      const { chainId } = question;
      const ask = running.find(({ watch }) => watch.chainId === chainId)?.askSolana;
      if (ask !== undefined) return ask(question);
      if (!rpcUrls.has(chainId)) return undefined;
      throw new Error(`nobody can be asked about Solana on chain ${chainId}`);
    },
    askUsedAddresses: async (question) => {
      const { chainId } = question;
      const ask = running.find(({ watch }) => watch.chainId === chainId)?.askUsedAddresses;
      if (ask === undefined) throw new Error(`chain ${chainId} is no Bitcoin that is watched here`);
      return ask(question);
    },
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
