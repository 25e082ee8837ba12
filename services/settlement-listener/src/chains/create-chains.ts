import { type RpcMetrics, createReaders, createRpcMetrics } from "@payment-links/chains/readers";
import type { CreateReaders } from "@payment-links/chains/watched-chain";
import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ServiceContext } from "@payment-links/process";
import { createConfigError } from "@payment-links/runtime";
import type { SettlementListenerConfig } from "../config.ts";
import type { Payment } from "../domain/payment.ts";
import { type ChainMetrics, createChainMetrics } from "../watch/chain/chain-metrics.ts";
import { reportOrphanedSettled } from "../watch/chain/report-orphaned-settled.ts";
import { createOwners } from "../watch/chain/owners.ts";
import { type LeadershipQuota, createLeadershipQuota } from "../watch/lease.ts";
import { type RunningWatch, startWatch } from "../watch/start-watch.ts";
import { rejectUnusedSettings } from "./reject-unused-settings.ts";

/**
 * The `LeadershipQuota` of one process: the number of chains that it leads before it lets other
 * replicas go first.
 */
const ledChainsMax = 10;

/** The configured chains. No request is sent before `start`. */
export type Chains = {
  ids: readonly string[];
  /** Alerts operators about settled payments that a reorg orphaned. */
  reportOrphanedSettled: (chainId: string, payments: readonly Payment[]) => void;
  start: () => void;
  /** Returns the started watches that have not been stopped. */
  watches: () => readonly RunningWatch[];
  /**
   * Reads the account state that is needed to build a payer's Solana transaction. Returns undefined
   * for a chain that is not watched.
   */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /**
   * Returns which Bitcoin addresses have already received a payment. Rejects if no node can answer.
   */
  fetchUsedAddresses: FetchUsedAddresses;
  /** Waits for the steps in progress and releases leadership of all chains. */
  stop: () => Promise<void>;
};

type ConfiguredChain = {
  id: string;
  urls: readonly string[];
  createWatchedChain: ReturnType<CreateReaders>;
};

type RunningChain = {
  watch: RunningWatch;
  close: () => void;
  fetchSolanaAccountState: FetchSolanaAccountState | undefined;
  fetchUsedAddresses: FetchUsedAddresses | undefined;
};

type StartOptions = Pick<ServiceContext, "pool" | "clock" | "log"> & {
  rpcMetrics: RpcMetrics;
  chainMetrics: ChainMetrics;
  wakeRelay: () => void;
  quota: LeadershipQuota;
};

/**
 * Creates the configured chains. Throws `ConfigError` if a chain cannot receive payments, or if it
 * does not support one of its settings.
 */
export const createChains = (
  context: ServiceContext,
  config: Pick<SettlementListenerConfig, "rpcUrls" | "chainOverrides" | "transferChains">,
  wakeRelay: () => void,
): Chains => {
  const { catalogue, clock, log, metrics, pool } = context;
  const { chainOverrides, rpcUrls } = config;
  rejectUnusedSettings(catalogue, config);
  const chains = [...rpcUrls].map(([id, urls]) => {
    const chain = catalogue.chains.find((catalogueChain) => catalogueChain.id === id);
    if (chain === undefined) {
      throw createConfigError([`RPC_URLS: the catalogue has no chain ${id} that can be watched`]);
    }
    const createWatchedChain = createReaders(catalogue, chain, chainOverrides[id] ?? {});
    return { id, urls, createWatchedChain };
  });
  const chainMetrics = createChainMetrics(metrics);
  const rpcMetrics = createRpcMetrics(metrics);
  let runningChains: readonly RunningChain[] = [];
  return {
    ids: chains.map(({ id }) => id),
    reportOrphanedSettled: (chainId, payments) =>
      reportOrphanedSettled({ log, metrics: chainMetrics }, chainId, payments),
    start: () => {
      const quota = createLeadershipQuota(ledChainsMax);
      const startOptions = { pool, clock, log, rpcMetrics, chainMetrics, wakeRelay, quota };
      runningChains = chains.map((chain) => startChain(chain, startOptions));
    },
    watches: () => runningChains.map(({ watch }) => watch),
    fetchSolanaAccountState: async (request) => {
      const { chainId } = request;
      const sendRequest = runningChains.find(
        ({ watch }) => watch.chainId === chainId,
      )?.fetchSolanaAccountState;
      if (sendRequest !== undefined) return sendRequest(request);
      if (!rpcUrls.has(chainId)) return undefined;
      throw new Error(`no RPC provider for Solana chain ${chainId}`);
    },
    fetchUsedAddresses: async (request) => {
      const { chainId } = request;
      const sendRequest = runningChains.find(
        ({ watch }) => watch.chainId === chainId,
      )?.fetchUsedAddresses;
      if (sendRequest === undefined)
        throw new Error(`chain ${chainId} is not a watched Bitcoin chain`);
      return sendRequest(request);
    },
    stop: async () => {
      const stoppingChains = runningChains;
      runningChains = [];
      const stopped = Promise.all(stoppingChains.map(({ watch }) => watch.stop()));
      // Aborts the requests in progress. Otherwise each of them could take its full timeout.
      for (const { close } of stoppingChains) close();
      await stopped;
    },
  };
};

const startChain = (
  { id: chainId, urls, createWatchedChain }: ConfiguredChain,
  { pool, clock, log, rpcMetrics, chainMetrics, wakeRelay, quota }: StartOptions,
): RunningChain => {
  const watchedChain = createWatchedChain({
    urls,
    clock,
    log,
    metrics: rpcMetrics,
    owners: createOwners(pool, chainId),
  });
  const { fetchSolanaAccountState, fetchUsedAddresses, close, ...watchedParts } = watchedChain;
  const { id, settings, findFault, getExtraConfirmations, ...readers } = watchedParts;
  const chain = {
    id,
    settings,
    findFault,
    ...(getExtraConfirmations && { getExtraConfirmations }),
  };
  const sharedOptions = { pool, clock, log, metrics: chainMetrics, wakeRelay };
  const watch = startWatch({ chain, ...readers, ...sharedOptions }, quota);
  return { watch, close, fetchSolanaAccountState, fetchUsedAddresses };
};
