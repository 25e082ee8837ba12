/**
 * How fast a bucket refills and how many tokens it holds; `<per second>:<burst>` in the
 * configuration.
 */
export type Limit = { tokensPerSecond: number; burst: number };

/**
 * A token bucket that a request is charged to. `policy` is the name in the response headers, one of
 * a few constants in the code. `id` distinguishes the policy's buckets and is not a secret.
 */
export type Bucket = { policy: "key" | "ip" | (string & {}); id: string; limit: Limit };

/**
 * The state of a bucket after a decision. `isAllowed` is the decision of this bucket alone.
 * `remaining` is in whole tokens. A request passes after `retryAfterMs` if no other request takes a
 * token in the meantime.
 */
export type BucketState = {
  isAllowed: boolean;
  remaining: number;
  retryAfterMs: number;
  fullInMs: number;
};

/**
 * The decision for all buckets of a request, with states in the same order. One token is taken from
 * every bucket, or none from any.
 */
export type Decision = { isAllowed: boolean; states: readonly BucketState[] };

/** Token buckets in memory or in Redis. */
export type Limiter = {
  /**
   * Takes one token from every bucket, or from none if one is empty. Each bucket may appear only
   * once. Returns the decision without a promise if no I/O is needed. Never fails.
   */
  take(buckets: readonly Bucket[]): Decision | Promise<Decision>;
  close(): Promise<void>;
};
