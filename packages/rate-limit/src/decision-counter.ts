import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import type { Bucket, Decision } from "./limiter.ts";

type Tally = { allowed: number; refused: number };

const policiesMax = 16;

/**
 * Counts decisions by policy: `allowed` for each token taken, `refused` for the policy, or
 * policies, that kept a request out. They are plain numbers that are handed over at a scrape,
 * because every request counts.
 */
export const countDecisions = (
  metrics: Metrics,
): ((buckets: readonly Bucket[], decision: Decision) => void) => {
  const tallies = new Map<string, Tally>();
  const tallyOf = (policy: string): Tally => {
    const known = tallies.get(policy);
    if (known !== undefined) return known;
    // Policies are words of the code. One that came from outside would make no new series.
    if (tallies.size >= policiesMax && policy !== "other") return tallyOf("other");
    const tally = { allowed: 0, refused: 0 };
    tallies.set(policy, tally);
    return tally;
  };
  const counter = new Counter({
    name: "payment_links_rate_limit_decisions_total",
    help: "Tokens taken (allowed) and requests kept out (refused), by the policy that decided.",
    labelNames: ["policy", "decision"],
    registers: [],
    collect() {
      this.reset();
      for (const [policy, { allowed, refused }] of tallies) {
        this.inc({ policy, decision: "allowed" }, allowed);
        this.inc({ policy, decision: "refused" }, refused);
      }
    },
  });
  metrics.registerMetric(counter);
  return (buckets, decision) => {
    for (let index = 0; index < buckets.length; index += 1) {
      const policy = buckets[index]?.policy ?? "other";
      if (decision.isAllowed) tallyOf(policy).allowed += 1;
      else if (decision.states[index]?.isAllowed === false) tallyOf(policy).refused += 1;
    }
  };
};
