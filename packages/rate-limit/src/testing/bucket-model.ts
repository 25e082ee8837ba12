import type { Bucket, Decision } from "../limiter.ts";

/**
 * Creates a token bucket in its simplest exact form: a level in unbounded integers that rises with
 * time and falls with each request. It does not share anything with the tested code, not even the
 * representation of the state.
 */
export const createBucketModel = () => {
  const levels = new Map<string, { level: bigint; atMicros: bigint }>();

  const getLevel = (bucket: Bucket, nowMicros: bigint): bigint => {
    const { capacity } = getBucketSizes(bucket);
    const stored = levels.get(bucket.id);
    if (stored === undefined) return capacity;
    const refilledLevel = stored.level + (nowMicros - stored.atMicros);
    return refilledLevel > capacity ? capacity : refilledLevel;
  };

  return {
    setLevel: (bucket: Bucket, level: bigint, atMicros: bigint): void => {
      levels.set(bucket.id, { level, atMicros });
    },
    getLevel,
    take: (buckets: readonly Bucket[], nowMicros: bigint): Decision => {
      const hasToken = buckets.map(
        (bucket) => getLevel(bucket, nowMicros) >= getBucketSizes(bucket).token,
      );
      const isAllowed = hasToken.every((bucketHasToken) => bucketHasToken);
      const states = buckets.map((bucket, index) => {
        const { token, capacity } = getBucketSizes(bucket);
        const levelBefore = getLevel(bucket, nowMicros);
        const levelAfter = isAllowed ? levelBefore - token : levelBefore;
        levels.set(bucket.id, { level: levelAfter, atMicros: nowMicros });
        return {
          isAllowed: hasToken[index] ?? false,
          remaining: Number(levelAfter / token),
          retryAfterMs: levelBefore >= token ? 0 : toMillisRoundedUp(token - levelBefore),
          fullInMs: toMillisRoundedUp(capacity - levelAfter),
        };
      });
      return { isAllowed, states };
    },
  };
};

/** Returns the refill times of one token and of the whole bucket, in µs. */
export const getBucketSizes = ({ limit }: Bucket): { token: bigint; capacity: bigint } => {
  const token = BigInt(Math.round(1_000_000 / limit.tokensPerSecond));
  return { token, capacity: token * BigInt(limit.burst) };
};

const toMillisRoundedUp = (micros: bigint): number => Number((micros + 999n) / 1000n);
