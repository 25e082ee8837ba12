import type { Bucket, Decision } from "../limiter.ts";

/**
 * A token bucket in its simplest exact form: a level that time fills and requests lower, in
 * unbounded integers. It shares nothing with the code under test, not even the form of its state.
 */
export const createBucketModel = () => {
  const levels = new Map<string, { level: bigint; atMicros: bigint }>();

  const levelOf = (bucket: Bucket, nowMicros: bigint): bigint => {
    const { capacity } = sizesOf(bucket);
    const last = levels.get(bucket.id);
    if (last === undefined) return capacity;
    const refilled = last.level + (nowMicros - last.atMicros);
    return refilled > capacity ? capacity : refilled;
  };

  return {
    setLevel: (bucket: Bucket, level: bigint, atMicros: bigint): void => {
      levels.set(bucket.id, { level, atMicros });
    },
    levelOf,
    take: (buckets: readonly Bucket[], nowMicros: bigint): Decision => {
      const passes = buckets.map((one) => levelOf(one, nowMicros) >= sizesOf(one).token);
      const isAllowed = passes.every((pass) => pass);
      const states = buckets.map((bucket, index) => {
        const { token, capacity } = sizesOf(bucket);
        const before = levelOf(bucket, nowMicros);
        const after = isAllowed ? before - token : before;
        levels.set(bucket.id, { level: after, atMicros: nowMicros });
        return {
          isAllowed: passes[index] ?? false,
          remaining: Number(after / token),
          retryAfterMs: before >= token ? 0 : ceilMillis(token - before),
          fullInMs: ceilMillis(capacity - after),
        };
      });
      return { isAllowed, states };
    },
  };
};

/** A token and the whole bucket, as the microseconds that refill them. */
export const sizesOf = ({ limit }: Bucket): { token: bigint; capacity: bigint } => {
  const token = BigInt(Math.round(1_000_000 / limit.tokensPerSecond));
  return { token, capacity: token * BigInt(limit.burst) };
};

const ceilMillis = (micros: bigint): number => Number((micros + 999n) / 1000n);
