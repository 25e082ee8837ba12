import { Counter, Gauge, Histogram } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { type BackgroundJobName, backgroundJobNames } from "./background-job-names.ts";

/** What happened to a transfer through a fee proxy. */
type TransferOutcome = "waiting" | "seen" | "settled" | "failed" | "orphaned" | "repaired";

/** How many blocks the watch is behind the chain's head. */
type ChainLagBlocks = { headLagBlocks: number; finalizedLagBlocks: number };
type ChainLagSeconds = { headLagSeconds: number; finalizedLagSeconds: number };

/**
 * The metrics of watched chains. The `chain` label has only the ids of configured chains, so its
 * cardinality is limited.
 */
export type ChainMetrics = {
  setLagBlocks(chain: string, lag: ChainLagBlocks): void;
  /** Sets the ages of the last scanned and the last final block. */
  setLagSeconds(chain: string, lag: ChainLagSeconds): void;
  /** Sets how many final blocks were left to audit after the last run. */
  setAuditLag(chain: string, lagBlocks: number): void;
  /** Sets how many mempool transactions have not been read yet. */
  setUnreadMempoolCount(chain: string, unreadCount: number): void;
  /**
   * Sets how many providers are configured, and how many of them agree on the newest final block.
   */
  setProviderAgreement(chain: string, providers: { count: number; agreeingCount: number }): void;
  countContradictions(chain: string, kind: "block" | "receipt", count: number): void;
  /**
   * Sets whether a provider (`rpc-1` and so on) is ignored because it differs from the catalogue.
   */
  setProviderIgnored(provider: { chain: string; provider: string; isIgnored: boolean }): void;
  setChainStopped(chain: string, status: { isHalted: boolean; isRefused: boolean }): void;
  observeReorgDepth(chain: string, depthBlocks: number): void;
  countTransfers(chain: string, outcome: TransferOutcome, count: number): void;
  countOrphanedAfterSettled(chain: string, count: number): void;
  observeScanDuration(chain: string, seconds: number): void;
  /** Counts differences that the audit found between the chain and the scan. */
  countAuditDifferences(
    chain: string,
    kind: "missing" | "surplus" | "final_hash",
    count: number,
  ): void;
  /** Sets whether a background job's last run failed. */
  setJobFailing(chain: string, job: BackgroundJobName, result: { isFailing: boolean }): void;
  /** Removes the chain's gauges, after another process has become its leader. */
  removeChain(chain: string): void;
};

/** Registers the metrics of watched chains. Call it once per service. */
export const createChainMetrics = (metrics: Metrics): ChainMetrics => {
  const registers = [metrics];
  const gauges = createGauges(registers);
  const failingGauge = new Gauge({
    name: "payment_links_chain_duty_failing",
    help: "1 while the last run of a background job failed",
    labelNames: ["chain", "duty"] as const,
    registers,
  });
  const ignoredGauge = new Gauge({
    name: "payment_links_chain_provider_ignored",
    help: "1 while an RPC provider is ignored because it differs from the catalogue",
    labelNames: ["chain", "provider"] as const,
    registers,
  });
  const providersByChain = new Map<string, Set<string>>();
  const { depths, durations } = createHistograms(registers);
  const { contradictions, differences, orphaned, transfers } = createCounters(registers);
  return {
    setLagBlocks: (chain, lag) => {
      gauges.headLagBlocks.set({ chain }, lag.headLagBlocks);
      gauges.finalizedLagBlocks.set({ chain }, lag.finalizedLagBlocks);
    },
    setLagSeconds: (chain, lag) => {
      gauges.headLagSeconds.set({ chain }, lag.headLagSeconds);
      gauges.finalizedLagSeconds.set({ chain }, lag.finalizedLagSeconds);
    },
    setAuditLag: (chain, lagBlocks) => gauges.auditLagBlocks.set({ chain }, lagBlocks),
    setUnreadMempoolCount: (chain, unreadCount) => gauges.unreadMempool.set({ chain }, unreadCount),
    setProviderAgreement: (chain, { agreeingCount, count }) => {
      gauges.providers.set({ chain }, count);
      gauges.agreeingProviders.set({ chain }, agreeingCount);
    },
    countContradictions: (chain, kind, count) => {
      if (count > 0) contradictions.inc({ chain, kind }, count);
    },
    setProviderIgnored: ({ chain, provider, isIgnored }) => {
      ignoredGauge.set({ chain, provider }, isIgnored ? 1 : 0);
      providersByChain.set(chain, (providersByChain.get(chain) ?? new Set()).add(provider));
    },
    setChainStopped: (chain, { isHalted, isRefused }) => {
      gauges.halted.set({ chain }, isHalted ? 1 : 0);
      gauges.refused.set({ chain }, isRefused ? 1 : 0);
    },
    observeReorgDepth: (chain, depthBlocks) => depths.observe({ chain }, depthBlocks),
    countTransfers: (chain, outcome, count) => {
      if (count > 0) transfers.inc({ chain, outcome }, count);
    },
    countOrphanedAfterSettled: (chain, count) => orphaned.inc({ chain }, count),
    observeScanDuration: (chain, seconds) => durations.observe({ chain }, seconds),
    countAuditDifferences: (chain, kind, count) => {
      if (count > 0) differences.inc({ chain, kind }, count);
    },
    setJobFailing: (chain, job, { isFailing }) =>
      failingGauge.set({ chain, duty: job }, isFailing ? 1 : 0),
    removeChain: (chain) => {
      for (const jobName of backgroundJobNames) failingGauge.remove({ chain, duty: jobName });
      for (const provider of providersByChain.get(chain) ?? [])
        ignoredGauge.remove({ chain, provider });
      for (const gauge of Object.values(gauges)) gauge.remove({ chain });
    },
  };
};

const labelNames = ["chain"] as const;

const createGauges = (registers: Metrics[]) => {
  const createGauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames, registers });
  return {
    headLagBlocks: createGauge(
      "payment_links_chain_head_lag_blocks",
      "Blocks mined and not yet scanned",
    ),
    headLagSeconds: createGauge(
      "payment_links_chain_head_lag_seconds",
      "Age of the last scanned block by its own time",
    ),
    finalizedLagBlocks: createGauge(
      "payment_links_chain_finalized_lag_blocks",
      "Blocks mined and not yet recorded as final",
    ),
    finalizedLagSeconds: createGauge(
      "payment_links_chain_finalized_lag_seconds",
      "Age of the last final block by its own time",
    ),
    auditLagBlocks: createGauge(
      "payment_links_chain_audit_lag_blocks",
      "Final blocks not yet audited",
    ),
    unreadMempool: createGauge(
      "payment_links_chain_waiting_unread",
      "Unconfirmed transactions not yet read",
    ),
    providers: createGauge(
      "payment_links_chain_providers",
      "Configured RPC providers; a single one is trusted without a quorum",
    ),
    agreeingProviders: createGauge(
      "payment_links_chain_agreeing_providers",
      "Providers that agree on the newest final block; without a quorum nothing settles",
    ),
    halted: createGauge(
      "payment_links_chain_halted",
      "1 while a chain is halted and waits for an operator",
    ),
    refused: createGauge(
      "payment_links_chain_refused",
      "1 while a chain is not watched because it differs from the catalogue",
    ),
  };
};

const createHistograms = (registers: Metrics[]) => ({
  depths: new Histogram({
    name: "payment_links_chain_reorg_depth_blocks",
    help: "Scanned blocks that a reorg orphaned",
    labelNames,
    registers,
    buckets: [1, 2, 3, 5, 8, 13, 21, 34, 65, 130, 260],
  }),
  durations: new Histogram({
    name: "payment_links_chain_scan_duration_seconds",
    help: "Time from the request for blocks to the commit of their transfers",
    labelNames,
    registers,
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  }),
});

const createCounters = (registers: Metrics[]) => ({
  transfers: new Counter({
    name: "payment_links_chain_transfers_total",
    help: "Transfers through fee proxies, by outcome",
    labelNames: ["chain", "outcome"] as const,
    registers,
  }),
  orphaned: new Counter({
    name: "payment_links_chain_orphaned_after_settled_total",
    help: "Settled payments that a reorg orphaned; they stay credited",
    labelNames,
    registers,
  }),
  contradictions: new Counter({
    name: "payment_links_chain_contradictions_total",
    help: "Blocks and receipts on which two providers disagree",
    labelNames: ["chain", "kind"] as const,
    registers,
  }),
  differences: new Counter({
    name: "payment_links_chain_audit_differences_total",
    help: "Differences that the audit of final blocks found",
    labelNames: ["chain", "kind"] as const,
    registers,
  }),
});
