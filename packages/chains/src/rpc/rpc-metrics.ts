import { Counter, Gauge } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import type { RpcFaultKind } from "./rpc-fault.ts";

/**
 * Contradictions between providers, or between two responses of one provider. Only
 * `unexplained_bloom` can be a false alarm, because a bloom filter can match although the block
 * contains no such log.
 */
export type DisagreementKind =
  | "backward_head"
  | "missing_logs"
  | "duplicate_logs"
  | "unexplained_bloom"
  | "missing_receipt"
  | "invalid_item"
  | "unchained_headers"
  | "short_headers"
  | "wrong_chain";

/** Metrics of requests to providers. The label is `rpc-1` or `rpc-2`, never the URL. */
export type RpcMetrics = {
  countRequest(provider: ProviderLabels, outcome: "ok" | RpcFaultKind): void;
  countDisagreement(chain: string, kind: DisagreementKind): void;
  setCircuitOpen(provider: ProviderLabels, isOpen: boolean): void;
};

type ProviderLabels = { chain: string; provider: string };

/** Registers the metrics of RPC providers. Call it once per service, for all its chains. */
export const createRpcMetrics = (metrics: Metrics): RpcMetrics => {
  const registers = [metrics];
  const requests = new Counter({
    name: "payment_links_chain_rpc_requests_total",
    help: "HTTP requests to a chain's RPC providers, by outcome",
    labelNames: ["chain", "provider", "outcome"] as const,
    registers,
  });
  const disagreements = new Counter({
    name: "payment_links_chain_rpc_disagreements_total",
    help: "Replies of RPC providers that contradict each other or themselves",
    labelNames: ["chain", "kind"] as const,
    registers,
  });
  const openCircuits = new Gauge({
    name: "payment_links_chain_rpc_circuit_open",
    help: "1 while requests to a provider are paused after failures",
    labelNames: ["chain", "provider"] as const,
    registers,
  });
  return {
    countRequest: (provider, outcome) => requests.inc({ ...provider, outcome }),
    countDisagreement: (chain, kind) => disagreements.inc({ chain, kind }),
    setCircuitOpen: (provider, isOpen) => openCircuits.set({ ...provider }, isOpen ? 1 : 0),
  };
};
