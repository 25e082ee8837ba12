/** How fast a bucket refills and how many tokens it holds; the configuration's `<per second>:<burst>`. */
export type Limit = { tokensPerSecond: number; burst: number };

/**
 * One token bucket that a request must pay from. `policy` is the name that callers see in the
 * headers, one of a few in the code. `id` tells the policy's buckets apart and is no secret.
 */
export type Bucket = { policy: "key" | "ip" | (string & {}); id: string; limit: Limit };

/**
 * How a bucket stands after a decision. `isAllowed` is this bucket's own view. `remaining` is in
 * whole tokens. After `retryAfterMs` it lets a request pass, if nobody else takes from it
 * meanwhile.
 */
export type BucketState = {
  isAllowed: boolean;
  remaining: number;
  retryAfterMs: number;
  fullInMs: number;
};

/**
 * The answer for all buckets of a request, in their order: one token is taken from each, or none from
 * any.
 */
export type Decision = { isAllowed: boolean; states: readonly BucketState[] };

/** Token buckets, wherever they are kept. */
export type Limiter = {
  /**
   * Takes one token from every bucket, or from none if one is empty. No bucket may be named twice.
   * It answers without a promise if it needs no I/O, and never fails.
   */
  take(buckets: readonly Bucket[]): Decision | Promise<Decision>;
  close(): Promise<void>;
};
