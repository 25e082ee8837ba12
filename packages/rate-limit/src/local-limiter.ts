import type { Clock, Metrics } from "@payment-links/runtime";
import { countDecisions } from "./decision-counter.ts";
import type { Limiter } from "./limiter.ts";
import { createOwnBuckets } from "./own-buckets.ts";

type LocalLimiterOptions = { clock: Clock; bucketsMax?: number; metrics?: Metrics };

/** How many buckets of one policy a process keeps at most: about 15 MB when all are in use. */
export const ownBucketsMax = 100_000;

/** Token buckets for where there is only one process. It answers without a promise. */
export const createLocalLimiter = ({
  clock,
  bucketsMax = ownBucketsMax,
  metrics,
}: LocalLimiterOptions): Limiter => {
  const own = createOwnBuckets(clock, bucketsMax);
  const count = metrics === undefined ? undefined : countDecisions(metrics);
  return {
    take: (buckets) => {
      const decision = own.take(buckets);
      count?.(buckets, decision);
      return decision;
    },
    close: () => Promise.resolve(),
  };
};
