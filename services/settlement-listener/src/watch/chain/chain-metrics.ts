import { Counter, Gauge, Histogram } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { type DutyName, dutyNames } from "./duty-names.ts";

/** What became of a transfer through a fee proxy. */
type TransferOutcome = "waiting" | "seen" | "settled" | "failed" | "orphaned" | "repaired";

/** How far a chain is watched, as gauges show it. */
type ChainMeasure = { headLagBlocks: number; finalizedLagBlocks: number };
type ChainAges = { headLagSeconds: number; finalizedLagSeconds: number };

/** What is counted of watching chains; the chains are those configured, so labels are bounded. */
export type ChainMetrics = {
  measured(chain: string, measure: ChainMeasure): void;
  /** How old the last scanned and the last final block are. */
  aged(chain: string, ages: ChainAges): void;
  /** How many final blocks the audit had before it after its last turn. */
  audited(chain: string, lagBlocks: number): void;
  /** How many transactions that wait to be mined have not been read. */
  waited(chain: string, unreadCount: number): void;
  /** How many providers there are, and how many of them agree on the newest final block. */
  agreed(chain: string, providers: { count: number; agreeingCount: number }): void;
  /** Providers contradicted one another. */
  contradicted(chain: string, kind: "block" | "receipt", count: number): void;
  /** Whether a provider, named `rpc-1` and so on, is ignored because it differs from the catalogue. */
  ignored(provider: { chain: string; provider: string; isIgnored: boolean }): void;
  stopped(chain: string, stop: { isHalted: boolean; isRefused: boolean }): void;
  reorganized(chain: string, depthBlocks: number): void;
  transferred(chain: string, outcome: TransferOutcome, count: number): void;
  orphanedAfterSettled(chain: string, count: number): void;
  scanned(chain: string, seconds: number): void;
  /** The second pass and the first did not find the same. */
  differed(chain: string, kind: "missing" | "surplus" | "final_hash", count: number): void;
  /** A duty of the second pass took a turn. */
  dutyEnded(chain: string, duty: DutyName, end: { isFailing: boolean }): void;
  /** Another process leads the chain: its gauges are that one's. */
  left(chain: string): void;
};

/** Adds the metrics of chains to the service's own. */
export const createChainMetrics = (metrics: Metrics): ChainMetrics => {
  const registers = [metrics];
  const gauges = createGauges(registers);
  const failing = new Gauge({
    name: "payment_links_chain_duty_failing",
    help: "1 while the last turn at a duty of the second pass failed",
    labelNames: ["chain", "duty"] as const,
    registers,
  });
  const ignored = new Gauge({
    name: "payment_links_chain_provider_ignored",
    help: "1 while an RPC provider is ignored because it differs from the catalogue",
    labelNames: ["chain", "provider"] as const,
    registers,
  });
  const providersOf = new Map<string, Set<string>>();
  const { depths, durations } = createHistograms(registers);
  const { contradictions, differences, orphaned, transfers } = createCounters(registers);
  return {
    measured: (chain, measure) => {
      gauges.headLagBlocks.set({ chain }, measure.headLagBlocks);
      gauges.finalizedLagBlocks.set({ chain }, measure.finalizedLagBlocks);
    },
    aged: (chain, ages) => {
      gauges.headLagSeconds.set({ chain }, ages.headLagSeconds);
      gauges.finalizedLagSeconds.set({ chain }, ages.finalizedLagSeconds);
    },
    audited: (chain, lagBlocks) => gauges.auditLagBlocks.set({ chain }, lagBlocks),
    waited: (chain, unreadCount) => gauges.waitingUnread.set({ chain }, unreadCount),
    agreed: (chain, { agreeingCount, count }) => {
      gauges.providers.set({ chain }, count);
      gauges.agreeingProviders.set({ chain }, agreeingCount);
    },
    contradicted: (chain, kind, count) => {
      if (count > 0) contradictions.inc({ chain, kind }, count);
    },
    ignored: ({ chain, provider, isIgnored }) => {
      ignored.set({ chain, provider }, isIgnored ? 1 : 0);
      providersOf.set(chain, (providersOf.get(chain) ?? new Set()).add(provider));
    },
    stopped: (chain, { isHalted, isRefused }) => {
      gauges.halted.set({ chain }, isHalted ? 1 : 0);
      gauges.refused.set({ chain }, isRefused ? 1 : 0);
    },
    reorganized: (chain, depthBlocks) => depths.observe({ chain }, depthBlocks),
    transferred: (chain, outcome, count) => {
      if (count > 0) transfers.inc({ chain, outcome }, count);
    },
    orphanedAfterSettled: (chain, count) => orphaned.inc({ chain }, count),
    scanned: (chain, seconds) => durations.observe({ chain }, seconds),
    differed: (chain, kind, count) => {
      if (count > 0) differences.inc({ chain, kind }, count);
    },
    dutyEnded: (chain, duty, { isFailing }) => failing.set({ chain, duty }, isFailing ? 1 : 0),
    left: (chain) => {
      for (const duty of dutyNames) failing.remove({ chain, duty });
      for (const provider of providersOf.get(chain) ?? []) ignored.remove({ chain, provider });
      for (const gauge of Object.values(gauges)) gauge.remove({ chain });
    },
  };
};

const labelNames = ["chain"] as const;

const createGauges = (registers: Metrics[]) => {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  return {
    headLagBlocks: gauge("payment_links_chain_head_lag_blocks", "Blocks mined and not yet scanned"),
    headLagSeconds: gauge(
      "payment_links_chain_head_lag_seconds",
      "Age of the last scanned block by its own time",
    ),
    finalizedLagBlocks: gauge(
      "payment_links_chain_finalized_lag_blocks",
      "Blocks mined and not yet recorded as final",
    ),
    finalizedLagSeconds: gauge(
      "payment_links_chain_finalized_lag_seconds",
      "Age of the last final block by its own time",
    ),
    auditLagBlocks: gauge(
      "payment_links_chain_audit_lag_blocks",
      "Final blocks not yet read a second time",
    ),
    waitingUnread: gauge(
      "payment_links_chain_waiting_unread",
      "Transactions that wait to be mined and have not been read yet",
    ),
    providers: gauge(
      "payment_links_chain_providers",
      "RPC providers that are configured; a lone one is believed",
    ),
    agreeingProviders: gauge(
      "payment_links_chain_agreeing_providers",
      "Providers that agree on the newest final block; with fewer than two of two nothing settles",
    ),
    halted: gauge("payment_links_chain_halted", "1 while a chain waits for an operator"),
    refused: gauge(
      "payment_links_chain_refused",
      "1 while a chain is not what the catalogue says, and is not watched",
    ),
  };
};

const createHistograms = (registers: Metrics[]) => ({
  depths: new Histogram({
    name: "payment_links_chain_reorg_depth_blocks",
    help: "Scanned blocks that a reorg took away",
    labelNames,
    registers,
    buckets: [1, 2, 3, 5, 8, 13, 21, 34, 65, 130, 260],
  }),
  durations: new Histogram({
    name: "payment_links_chain_scan_duration_seconds",
    help: "Time from asking for blocks to the commit of what was found in them",
    labelNames,
    registers,
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  }),
});

const createCounters = (registers: Metrics[]) => ({
  transfers: new Counter({
    name: "payment_links_chain_transfers_total",
    help: "Transfers through fee proxies, by what became of them",
    labelNames: ["chain", "outcome"] as const,
    registers,
  }),
  orphaned: new Counter({
    name: "payment_links_chain_orphaned_after_settled_total",
    help: "Settled payments that a reorg took away; they keep their credit",
    labelNames,
    registers,
  }),
  contradictions: new Counter({
    name: "payment_links_chain_contradictions_total",
    help: "Blocks and receipts of which two providers do not say the same",
    labelNames: ["chain", "kind"] as const,
    registers,
  }),
  differences: new Counter({
    name: "payment_links_chain_audit_differences_total",
    help: "What the second pass over final blocks found otherwise than the first",
    labelNames: ["chain", "kind"] as const,
    registers,
  }),
});
