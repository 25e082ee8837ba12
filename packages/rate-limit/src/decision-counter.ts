import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import type { Bucket, Decision } from "./limiter.ts";

type DecisionCounts = { allowed: number; rejected: number };

const policiesMax = 16;

/**
 * Counts decisions by policy: `allowed` for each token taken, `refused` for the policy, or
 * policies, that kept a request out. They are plain numbers that are handed over at a scrape,
 * because every request counts.
 */
export const createDecisionCounter = (
  metrics: Metrics,
): ((buckets: readonly Bucket[], decision: Decision) => void) => {
  const countsByPolicy = new Map<string, DecisionCounts>();
  const findCounts = (policy: string): DecisionCounts => {
    const existingCounts = countsByPolicy.get(policy);
    if (existingCounts !== undefined) return existingCounts;
    // Policies are words of the code. One that came from outside would make no new series.
    if (countsByPolicy.size >= policiesMax && policy !== "other") return findCounts("other");
    const counts = { allowed: 0, rejected: 0 };
    countsByPolicy.set(policy, counts);
    return counts;
  };
  const counter = new Counter({
    name: "payment_links_rate_limit_decisions_total",
    help: "Tokens taken (allowed) and requests kept out (refused), by the policy that decided.",
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
