import { Counter, Gauge, Histogram } from "prom-client";
import type { Metrics } from "@payment-links/runtime";

/** The metrics of the questions to auth-keys. */
export type IdentityMetrics = {
  questions: Counter<"kind" | "outcome">;
  questionSeconds: Histogram<"kind">;
  staleAnswers: Counter<"kind">;
  unreachable: Gauge;
};

/** Registers the metrics of a service's questions; `kind` is `api-key` or `session`. */
export const openIdentityMetrics = (metrics: Metrics): IdentityMetrics => ({
  questions: new Counter({
    name: "payment_links_identity_questions_total",
    help: "Questions to auth-keys by outcome: found, not_found, failed.",
    labelNames: ["kind", "outcome"],
    registers: [metrics],
  }),
  questionSeconds: new Histogram({
    name: "payment_links_identity_question_duration_seconds",
    help: "How long auth-keys took to answer, or to fail to.",
    labelNames: ["kind"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
    registers: [metrics],
  }),
  staleAnswers: new Counter({
    name: "payment_links_identity_stale_answers_total",
    help: "Calls let through or refused by an older answer, as auth-keys gave no new one.",
    labelNames: ["kind"],
    registers: [metrics],
  }),
  unreachable: new Gauge({
    name: "payment_links_identity_unreachable",
    help: "1 while auth-keys gives no answers.",
    registers: [metrics],
  }),
});
