import type { Bucket, BucketState, Decision, Limit } from "./limiter.ts";

/**
 * Decides a request over all its buckets: one token from each, or none from any. A bucket's debt is how
 * long it would take to fill up, in microseconds (GCRA: its theoretical arrival time less now), as it
 * stands before the request. The Redis script makes the same comparison; whole microseconds keep both
 * exact.
 */
export const takeTokens = (
  buckets: readonly Bucket[],
  debtsMicros: readonly number[],
): Decision => {
  let isAllowed = true;
  for (let index = 0; index < buckets.length; index += 1) {
    const limit = buckets[index]?.limit;
    if (limit !== undefined && isShort(limit, debtsMicros[index] ?? 0)) isAllowed = false;
  }
  const states = buckets.map(({ limit }, index) =>
    stateOf(limit, debtsMicros[index] ?? 0, isAllowed),
  );
  return { isAllowed, states };
};

/** How long one token of a limit takes to refill, in whole microseconds, at least one. */
export const tokenMicros = (limit: Limit): number =>
  Math.max(1, Math.round(1_000_000 / limit.tokensPerSecond));

/** Whether a bucket with this debt, in microseconds, holds no whole token. */
export const isShort = (limit: Limit, debtMicros: number): boolean =>
  lackMicros(limit, debtMicros) > 0;

/** How long until the bucket holds a whole token; 0 or less when it holds one. */
const lackMicros = (limit: Limit, debt: number): number => {
  const token = tokenMicros(limit);
  return debt + token - token * limit.burst;
};

const stateOf = (limit: Limit, debtBefore: number, isTaken: boolean): BucketState => {
  const token = tokenMicros(limit);
  const debt = isTaken ? debtBefore + token : debtBefore;
  const lack = lackMicros(limit, debtBefore);
  return {
    isAllowed: lack <= 0,
    remaining: Math.floor((token * limit.burst - debt) / token),
    retryAfterMs: lack > 0 ? Math.ceil(lack / 1000) : 0,
    fullInMs: Math.ceil(debt / 1000),
  };
};
