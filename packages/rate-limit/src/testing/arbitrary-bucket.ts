import * as fc from "fast-check";
import type { Bucket } from "../limiter.ts";

/**
 * Limits from 1 token per 1,000 s to 100,000 tokens per second. In some of them, the refill time of
 * a token is not a whole number.
 */
const arbitraryLimit = fc.record({
  tokensPerSecond: fc.oneof(
    fc.constantFrom(0.001, 0.1, 1, 3, 7, 10, 100, 333, 1_000, 100_000),
    fc.integer({ min: 1, max: 5_000_000 }).map((thousandths) => thousandths / 1000),
  ),
  burst: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100_000 })),
});

/** One to three different buckets, like the buckets of one request. */
export const arbitraryBuckets: fc.Arbitrary<Bucket[]> = fc
  .array(arbitraryLimit, { minLength: 1, maxLength: 3 })
  .map((limits) => limits.map((limit, index) => ({ policy: "key", id: `id-${index}`, limit })));
