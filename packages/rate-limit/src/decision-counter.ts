import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import type { Bucket, Decision } from "./limiter.ts";

type DecisionCounts = { allowed: number; rejected: number };

const policiesMax = 16;

/**
 * Counts decisions by policy: `allowed` for each token taken, and `refused` for each policy that
 * rejected a request. Stores plain numbers and exports them only when metrics are scraped, because
 * this code runs on every request.
 */
export const createDecisionCounter = (
  metrics: Metrics,
): ((buckets: readonly Bucket[], decision: Decision) => void) => {
  const countsByPolicy = new Map<string, DecisionCounts>();
  const findCounts = (policy: string): DecisionCounts => {
    const existingCounts = countsByPolicy.get(policy);
    if (existingCounts !== undefined) return existingCounts;
    // Policies are constants in the code. This limit prevents an unbounded number of series if a
    // policy ever comes from outside.
    if (countsByPolicy.size >= policiesMax && policy !== "other") return findCounts("other");
    const counts = { allowed: 0, rejected: 0 };
    countsByPolicy.set(policy, counts);
    return counts;
  };
  const counter = new Counter({
    name: "payment_links_rate_limit_decisions_total",
    help: "Tokens taken (allowed) and requests rejected (refused), by the policy that decided.",
    labelNames: ["policy", "decision"],
    registers: [],
    collect() {
      this.reset();
      for (const [policy, { allowed, rejected }] of countsByPolicy) {
        this.inc({ policy, decision: "allowed" }, allowed);
        this.inc({ policy, decision: "refused" }, rejected);
      }
    },
  });
  metrics.registerMetric(counter);
  return (buckets, decision) => {
    for (let index = 0; index < buckets.length; index += 1) {
      const policy = buckets[index]?.policy ?? "other";
      if (decision.isAllowed) findCounts(policy).allowed += 1;
      else if (decision.states[index]?.isAllowed === false) findCounts(policy).rejected += 1;
    }
  };
};
