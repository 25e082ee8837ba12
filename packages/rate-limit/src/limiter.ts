/**
 * How fast a bucket refills and how many tokens it holds. The configuration format is `<per
 * second>:<burst>`.
 */
export type Limit = { tokensPerSecond: number; burst: number };

/**
 * A token bucket that a request takes a token from. `policy` is the name in the response headers,
 * which is one of a few constants in the code. `id` distinguishes the policy's buckets and is not a
 * secret.
 */
export type Bucket = { policy: "key" | "ip" | (string & {}); id: string; limit: Limit };

/**
 * The state of a bucket after a decision. `isAllowed` is the decision of this bucket alone.
 * `remaining` is in whole tokens. After `retryAfterMs`, a request is allowed if no other request
 * has taken a token in the meantime.
 */
export type BucketState = {
  isAllowed: boolean;
  remaining: number;
  retryAfterMs: number;
  fullInMs: number;
};

/**
 * The decision for all buckets of a request. The states are in the order of the buckets. Either one
 * token is taken from every bucket, or none from any.
 */
export type Decision = { isAllowed: boolean; states: readonly BucketState[] };

/** Token buckets in memory or in Redis. */
export type Limiter = {
  /**
   * Takes one token from every bucket, or from none if one is empty. A request must not contain the
   * same bucket twice. If no I/O is needed, returns the decision without a promise. Never fails.
   */
  take(buckets: readonly Bucket[]): Decision | Promise<Decision>;
  close(): Promise<void>;
};
