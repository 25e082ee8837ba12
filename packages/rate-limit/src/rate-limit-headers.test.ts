import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createFakeClock } from "@payment-links/runtime";
import type { Bucket } from "./limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { createLocalBuckets } from "./local-buckets.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";

const keyBucket: Bucket = { policy: "key", id: "k", limit: { tokensPerSecond: 10, burst: 100 } };
const addressBucket: Bucket = { policy: "ip", id: "a", limit: { tokensPerSecond: 20, burst: 200 } };

const createState = (remaining: number, fullInMs: number, retryAfterMs = 0) => ({
  isAllowed: retryAfterMs === 0,
  remaining,
  retryAfterMs,
  fullInMs,
});

/** Parses a list of RFC 9651 strings with integer parameters. Rejects any other input. */
const parseStructuredList = (field: string | undefined): Record<string, Record<string, number>> => {
  const items: Record<string, Record<string, number>> = {};
  for (const item of (field ?? "").split(/,[ \t]*/)) {
    const match = /^"([\x20-\x21\x23-\x5b\x5d-\x7e]*)"((?:;[a-z]+=\d{1,15})*)$/.exec(item);
    if (match === null) throw new Error(`invalid list: ${field}`);
    const parameters = (match[2] ?? "").split(";").slice(1);
    items[match[1] ?? ""] = Object.fromEntries(
      parameters.map((parameter) => {
        const [name = "", value = ""] = parameter.split("=");
        return [name, Number(value)];
      }),
    );
  }
  return items;
};

describe("rateLimitHeaders", () => {
  test("reports each bucket's policy and state", () => {
    const decision = { isAllowed: true, states: [createState(42, 5_800), createState(199, 50)] };
    expect(rateLimitHeaders([keyBucket, addressBucket], decision)).toEqual({
      "RateLimit-Policy": '"key";q=100;w=10, "ip";q=200;w=10',
      RateLimit: '"key";r=42;t=6, "ip";r=199;t=1',
    });
  });

  test("rounds `Retry-After` and the reset of a rejection up to whole seconds", () => {
    const decision = {
      isAllowed: false,
      states: [createState(0, 10_000, 1_001), createState(150, 2_500)],
    };
    expect(rateLimitHeaders([keyBucket, addressBucket], decision)).toMatchObject({
      RateLimit: '"key";r=0;t=2, "ip";r=150;t=3',
      "Retry-After": "2",
    });
  });

  test("reports at least one second, even for a full bucket", () => {
    const decision = { isAllowed: false, states: [createState(0, 9_001, 1), createState(200, 0)] };
    expect(rateLimitHeaders([keyBucket, addressBucket], decision)).toMatchObject({
      RateLimit: '"key";r=0;t=1, "ip";r=200;t=1',
      "Retry-After": "1",
    });
  });

  test("reports a limit object that two policies share under each policy's own name", () => {
    const sharedLimit = { tokensPerSecond: 1, burst: 3 };
    const buckets = ["a", "b"].map((policy) => ({ policy, id: "x", limit: sharedLimit }));
    const decision = { isAllowed: true, states: [createState(2, 1_000), createState(2, 1_000)] };
    for (let call = 0; call < 2; call += 1) {
      expect(rateLimitHeaders(buckets, decision)["RateLimit-Policy"]).toBe(
        '"a";q=3;w=3, "b";q=3;w=3',
      );
    }
  });

  test("reports a window of one second, the minimum, for a policy that refills within a second", () => {
    const fastBucket: Bucket = {
      policy: "key",
      id: "f",
      limit: { tokensPerSecond: 1_000, burst: 10 },
    };
    const decision = { isAllowed: true, states: [createState(9, 1)] };
    expect(rateLimitHeaders([fastBucket], decision)["RateLimit-Policy"]).toBe('"key";q=10;w=1');
  });

  test("is always well-formed, never reports more than the quota, and lets a client pass after `Retry-After`", () => {
    const requestCount = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(arbitraryBuckets, requestCount, (buckets, requestCount) => {
        const namedBuckets = buckets.map((bucket, index) => ({ ...bucket, policy: `p${index}` }));
        const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
        const localBuckets = createLocalBuckets(clock, 10);
        for (let call = 0; call < requestCount; call += 1) {
          const decision = localBuckets.take(namedBuckets);
          const fields = rateLimitHeaders(namedBuckets, decision);
          const policies = parseStructuredList(fields["RateLimit-Policy"]);
          const limits = parseStructuredList(fields["RateLimit"]);
          for (const { policy } of namedBuckets) {
            expect(limits[policy]?.["r"]).toBeLessThanOrEqual(policies[policy]?.["q"] ?? -1);
            expect(policies[policy]?.["w"]).toBeGreaterThanOrEqual(1);
          }
          if (decision.isAllowed) continue;
          const waitSeconds = Number(fields["Retry-After"]);
          decision.states.forEach((state, index) => {
            if (!state.isAllowed)
              expect(limits[`p${index}`]?.["t"]).toBeLessThanOrEqual(waitSeconds);
          });
          clock.advance(waitSeconds * 1000);
          expect(localBuckets.take(namedBuckets).isAllowed).toBe(true);
        }
      }),
      { numRuns: 200, seed: 20_261_128 },
    );
  });

  test("reports the decision of a limiter", () => {
    const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
    const decision = createLocalLimiter({ clock }).take([keyBucket]);
    if (decision instanceof Promise) throw new Error("a local decision must be synchronous");
    expect(rateLimitHeaders([keyBucket], decision)["RateLimit"]).toBe('"key";r=99;t=1');
  });
});
