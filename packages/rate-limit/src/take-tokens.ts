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
    if (limit !== undefined && lacksToken(limit, debtsMicros[index] ?? 0)) isAllowed = false;
  }
  const states = buckets.map(({ limit }, index) =>
    toBucketState(limit, debtsMicros[index] ?? 0, isAllowed),
  );
  return { isAllowed, states };
};

/** How long one token of a limit takes to refill, in whole microseconds, at least one. */
export const getTokenMicros = (limit: Limit): number =>
  Math.max(1, Math.round(1_000_000 / limit.tokensPerSecond));

/** Whether a bucket with this debt, in microseconds, holds no whole token. */
export const lacksToken = (limit: Limit, debtMicros: number): boolean =>
  getLackingMicros(limit, debtMicros) > 0;

/** How long until the bucket holds a whole token; 0 or less when it holds one. */
const getLackingMicros = (limit: Limit, debtMicros: number): number => {
  const tokenMicros = getTokenMicros(limit);
  return debtMicros + tokenMicros - tokenMicros * limit.burst;
};

const toBucketState = (limit: Limit, debtBeforeMicros: number, isTaken: boolean): BucketState => {
  const tokenMicros = getTokenMicros(limit);
  const debtMicros = isTaken ? debtBeforeMicros + tokenMicros : debtBeforeMicros;
  const lackingMicros = getLackingMicros(limit, debtBeforeMicros);
  return {
    isAllowed: lackingMicros <= 0,
    remaining: Math.floor((tokenMicros * limit.burst - debtMicros) / tokenMicros),
    retryAfterMs: lackingMicros > 0 ? Math.ceil(lackingMicros / 1000) : 0,
    fullInMs: Math.ceil(debtMicros / 1000),
  };
};
