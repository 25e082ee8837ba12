import type { Bucket, BucketState, Decision, Limit } from "./limiter.ts";

/**
 * Returns the header fields of draft-ietf-httpapi-ratelimit-headers (10 and 11), and `Retry-After`
 * on a rejection. `q` is the policy's burst, and `w` is the time in whole seconds that refills it.
 * `t` is the time until the bucket is full, or, if the bucket rejected the request, until it allows
 * one. Therefore, `Retry-After` is never earlier than `t` (draft §6).
 */
export const rateLimitHeaders = (
  buckets: readonly Bucket[],
  decision: Decision,
): Record<string, string> => {
  let policies = "";
  let limits = "";
  let retryAfterMs = 0;
  for (let index = 0; index < buckets.length; index += 1) {
    const bucket = buckets[index];
    const state = decision.states[index];
    if (bucket === undefined || state === undefined) continue;
    const separator = index === 0 ? "" : ", ";
    policies += separator + formatPolicyItem(bucket);
    limits += separator + formatLimitItem(bucket.policy, state);
    retryAfterMs = Math.max(retryAfterMs, state.retryAfterMs);
  }
  const fields: Record<string, string> = { "RateLimit-Policy": policies, RateLimit: limits };
  if (!decision.isAllowed) fields["Retry-After"] = String(toWholeSeconds(retryAfterMs));
  return fields;
};

const formatLimitItem = (policy: string, state: BucketState): string => {
  const waitMs = state.isAllowed ? state.fullInMs : state.retryAfterMs;
  return `${formatStructuredString(policy)};r=${state.remaining};t=${toWholeSeconds(waitMs)}`;
};

// Each item is formatted only once, because a `Limit` object exists as long as the process or a
// key's cached data.
const policyItemCache = new WeakMap<Limit, { policy: string; item: string }>();

const formatPolicyItem = ({ policy, limit }: Bucket): string => {
  const cached = policyItemCache.get(limit);
  if (cached?.policy === policy) return cached.item;
  const windowSeconds = Math.ceil(limit.burst / limit.tokensPerSecond);
  const item = `${formatStructuredString(policy)};q=${limit.burst};w=${windowSeconds}`;
  policyItemCache.set(limit, { policy, item });
  return item;
};

const toWholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Formats a String of RFC 9651. Policies are plain ASCII words, so they do not need escaping. */
const formatStructuredString = (text: string): string => `"${text}"`;
