import type { Bucket, BucketState, Decision, Limit } from "./limiter.ts";

/**
 * Decides whether a request is allowed. A request takes one token from each of its buckets, or none
 * from any. A bucket's debt is the time in µs until the bucket is full, before this request. In
 * GCRA terms, this is the theoretical arrival time minus the current time. The Redis script makes
 * the same comparison. Both are exact, because they use whole microseconds.
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

/** Returns the refill time of one token in whole microseconds, at least 1. */
export const getTokenMicros = (limit: Limit): number =>
  Math.max(1, Math.round(1_000_000 / limit.tokensPerSecond));

/** Returns whether a bucket with this debt in µs has less than one whole token. */
export const lacksToken = (limit: Limit, debtMicros: number): boolean =>
  getLackingMicros(limit, debtMicros) > 0;

/**
 * Returns the time in µs until the bucket has a whole token. The result is 0 or less if it has one
 * now.
 */
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
