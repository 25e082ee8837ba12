import { Counter, Gauge, Histogram } from "prom-client";
import type { Clock, Metrics } from "@payment-links/runtime";

/** The metrics of introspection requests to auth-keys. */
export type IdentityMetrics = {
  requests: Counter<"kind" | "outcome">;
  requestSeconds: Histogram<"kind">;
  staleResponses: Counter<"kind">;
  /** Records that auth-keys responded. `recordFailure` records that it did not. */
  recordSuccess(): void;
  recordFailure(): void;
};

/**
 * How long auth-keys is reported as unreachable after a failure. The time is limited because
 * without further requests, a recovery would not be noticed. It is slightly shorter than the time
 * after which the alert fires.
 */
const unreachableMsMax = 4 * 60_000;

/** Registers a service's introspection metrics. The label `kind` is `api-key` or `session`. */
export const createIdentityMetrics = (metrics: Metrics, clock: Clock): IdentityMetrics => ({
  requests: new Counter({
    name: "payment_links_identity_questions_total",
    help: "Requests to auth-keys by outcome: found, not_found, failed.",
    labelNames: ["kind", "outcome"],
    registers: [metrics],
  }),
  requestSeconds: new Histogram({
    name: "payment_links_identity_question_duration_seconds",
    help: "Duration of requests to auth-keys, including failed ones.",
    labelNames: ["kind"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
    registers: [metrics],
  }),
  staleResponses: new Counter({
    name: "payment_links_identity_stale_answers_total",
    help: "Calls accepted or rejected by a stale response because auth-keys gave no new one.",
    labelNames: ["kind"],
    registers: [metrics],
  }),
  ...createUnreachableGauge(metrics, clock),
});

const createUnreachableGauge = (metrics: Metrics, clock: Clock) => {
  let failedAtMs: number | undefined;
  const gauge = new Gauge({
    name: "payment_links_identity_unreachable",
    help: "1 while auth-keys is unreachable: the last request failed, less than 4 minutes ago.",
    registers: [],
    collect() {
      const isUnreachable =
        failedAtMs !== undefined && clock.elapsedMs() - failedAtMs < unreachableMsMax;
      this.set(isUnreachable ? 1 : 0);
    },
  });
  metrics.registerMetric(gauge);
  return {
    recordSuccess: () => {
      failedAtMs = undefined;
    },
    recordFailure: () => {
      failedAtMs = clock.elapsedMs();
    },
  };
};
