import type { Clock, Metrics } from "@payment-links/runtime";
import { createDecisionCounter } from "./decision-counter.ts";
import type { Limiter } from "./limiter.ts";
import { createLocalBuckets } from "./local-buckets.ts";

type LocalLimiterOptions = { clock: Clock; bucketsMax?: number; metrics?: Metrics };

/** The maximum number of buckets per policy and process. They use about 15 MB when all exist. */
export const localBucketsMax = 100_000;

/**
 * Creates token buckets for an installation with a single process. They decide without a promise.
 */
export const createLocalLimiter = ({
  clock,
  bucketsMax = localBucketsMax,
  metrics,
}: LocalLimiterOptions): Limiter => {
  const localBuckets = createLocalBuckets(clock, bucketsMax);
  const countDecision = metrics === undefined ? undefined : createDecisionCounter(metrics);
  return {
    take: (buckets) => {
      const decision = localBuckets.take(buckets);
      countDecision?.(buckets, decision);
      return decision;
    },
    close: () => Promise.resolve(),
  };
};
