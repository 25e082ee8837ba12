export { addressBucketId } from "./address-bucket-id.ts";
export type { Bucket, BucketState, Decision, Limit, Limiter } from "./limiter.ts";
export { createLocalLimiter } from "./local-limiter.ts";
export { rateLimitHeaders } from "./rate-limit-headers.ts";
export { createRedisLimiter } from "./redis-limiter.ts";
