import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createHeldClock } from "@payment-links/runtime";
import type { Bucket } from "./limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { createOwnBuckets } from "./own-buckets.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";

const key: Bucket = { policy: "key", id: "k", limit: { tokensPerSecond: 10, burst: 100 } };
const address: Bucket = { policy: "ip", id: "a", limit: { tokensPerSecond: 20, burst: 200 } };

const state = (remaining: number, fullInMs: number, retryAfterMs = 0) => ({
  isAllowed: retryAfterMs === 0,
  remaining,
  retryAfterMs,
  fullInMs,
});

/** Reads a list of RFC 9651 strings with integer parameters, and nothing else. */
const parse = (field: string | undefined): Record<string, Record<string, number>> => {
  const items: Record<string, Record<string, number>> = {};
  for (const item of (field ?? "").split(/,[ \t]*/)) {
    const match = /^"([\x20-\x21\x23-\x5b\x5d-\x7e]*)"((?:;[a-z]+=\d{1,15})*)$/.exec(item);
    if (match === null) throw new Error(`no list of this kind: ${field}`);
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
  test("tells each bucket's policy and where it stands", () => {
    const decision = { isAllowed: true, states: [state(42, 5_800), state(199, 50)] };
    expect(rateLimitHeaders([key, address], decision)).toEqual({
      "RateLimit-Policy": '"key";q=100;w=10, "ip";q=200;w=10',
      RateLimit: '"key";r=42;t=6, "ip";r=199;t=1',
    });
  });

  test("a refusal tells when to come back, in whole seconds that are never too short", () => {
    const decision = { isAllowed: false, states: [state(0, 10_000, 1_001), state(150, 2_500)] };
    expect(rateLimitHeaders([key, address], decision)).toMatchObject({
      RateLimit: '"key";r=0;t=2, "ip";r=150;t=3',
      "Retry-After": "2",
    });
  });

  test("a second is the shortest time that is told, also where a bucket is full", () => {
    const decision = { isAllowed: false, states: [state(0, 9_001, 1), state(200, 0)] };
    expect(rateLimitHeaders([key, address], decision)).toMatchObject({
      RateLimit: '"key";r=0;t=1, "ip";r=200;t=1',
      "Retry-After": "1",
    });
  });

  test("a limit object that serves two policies is told under each one's own name", () => {
    const shared = { tokensPerSecond: 1, burst: 3 };
    const buckets = ["a", "b"].map((policy) => ({ policy, id: "x", limit: shared }));
    const decision = { isAllowed: true, states: [state(2, 1_000), state(2, 1_000)] };
    for (let call = 0; call < 2; call += 1) {
      expect(rateLimitHeaders(buckets, decision)["RateLimit-Policy"]).toBe(
        '"a";q=3;w=3, "b";q=3;w=3',
      );
    }
  });

  test("a policy refilled within a second has a window of one second, the shortest there is", () => {
    const fast: Bucket = { policy: "key", id: "f", limit: { tokensPerSecond: 1_000, burst: 10 } };
    const decision = { isAllowed: true, states: [state(9, 1)] };
    expect(rateLimitHeaders([fast], decision)["RateLimit-Policy"]).toBe('"key";q=10;w=1');
  });

  test("always well-formed, never more left than the policy grants, and whoever waits passes", () => {
    const asked = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(arbitraryBuckets, asked, (buckets, asked) => {
        const named = buckets.map((bucket, index) => ({ ...bucket, policy: `p${index}` }));
        const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
        const own = createOwnBuckets(clock, 10);
        for (let call = 0; call < asked; call += 1) {
          const decision = own.take(named);
          const fields = rateLimitHeaders(named, decision);
          const policies = parse(fields["RateLimit-Policy"]);
          const limits = parse(fields["RateLimit"]);
          for (const { policy } of named) {
            expect(limits[policy]?.["r"]).toBeLessThanOrEqual(policies[policy]?.["q"] ?? -1);
            expect(policies[policy]?.["w"]).toBeGreaterThanOrEqual(1);
          }
          if (decision.isAllowed) continue;
          const waitSeconds = Number(fields["Retry-After"]);
          decision.states.forEach((one, index) => {
            if (!one.isAllowed) expect(limits[`p${index}`]?.["t"]).toBeLessThanOrEqual(waitSeconds);
          });
          clock.advance(waitSeconds * 1000);
          expect(own.take(named).isAllowed).toBe(true);
        }
      }),
      { numRuns: 200, seed: 20_261_128 },
    );
  });

  test("what a limiter decided is what is told", () => {
    const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
    const decision = createLocalLimiter({ clock }).take([key]);
    if (decision instanceof Promise) throw new Error("a local decision needs no promise");
    expect(rateLimitHeaders([key], decision)["RateLimit"]).toBe('"key";r=99;t=1');
  });
});
