import { describe, expect, test } from "@jest/globals";
import { generateApiKey } from "@payment-links/contracts";
import {
  connectionRefused,
  createOptions,
  listOptions,
  notFoundResponse,
  createIdentityRig,
  getOutcome,
  startedAt,
  unavailableErrorName,
} from "./testing/identity-rig.ts";
import { createSampleResponse } from "./testing/sample-response.ts";

describe("how long a response is cached", () => {
  test.each([createOptions, listOptions])(
    "is exact to the millisecond: fresh for $maxAgeMs ms",
    async ({ maxAgeMs }) => {
      const { authKeys, clock, identity, key } = createIdentityRig();
      authKeys.respondWith(createSampleResponse());
      await identity.authenticateApiKey(key, { maxAgeMs });
      clock.advance(maxAgeMs);
      expect(identity.findCachedApiKeyCaller(key, maxAgeMs)).toBeDefined();
      await identity.authenticateApiKey(key, { maxAgeMs });
      expect(authKeys.requests).toHaveLength(1);
      clock.advance(1);
      expect(identity.findCachedApiKeyCaller(key, maxAgeMs)).toBeUndefined();
      await identity.authenticateApiKey(key, { maxAgeMs });
      expect(authKeys.requests).toHaveLength(2);
    },
  );

  test("serves list requests for 5 s, while create requests need a new response after 1 s (rule CALLER-3)", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    clock.advance(3_000);
    expect(identity.findCachedApiKeyCaller(key, 5_000)).toBeDefined();
    expect(identity.findCachedApiKeyCaller(key, 1_000)).toBeUndefined();
    authKeys.respondWith(notFoundResponse);
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      "INVALID_API_KEY",
    );
    // The list request also uses the newer response.
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("INVALID_API_KEY");
    expect(authKeys.requests).toHaveLength(2);
  });

  test("measures the age from the request, not from the response", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = identity.authenticateApiKey(key, listOptions);
    clock.advance(900);
    authKeys.respondToNext(createSampleResponse());
    await pendingCall;
    clock.advance(100);
    expect(identity.findCachedApiKeyCaller(key, 1_000)).toBeDefined();
    clock.advance(1);
    expect(identity.findCachedApiKeyCaller(key, 1_000)).toBeUndefined();
  });

  test("fails a create request after three responses that each took more than 1 s", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = getOutcome(identity.authenticateApiKey(key, createOptions));
    for (const count of [1, 2, 3]) {
      await flushImmediates();
      expect(authKeys.requests).toHaveLength(count);
      clock.advance(1_001);
      authKeys.respondToNext(createSampleResponse());
    }
    expect(await pendingCall).toBe(unavailableErrorName);
    expect(authKeys.requests).toHaveLength(3);
  });

  test("retries a create request whose response came too late, and uses the second response", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = getOutcome(identity.authenticateApiKey(key, createOptions));
    clock.advance(1_001);
    authKeys.respondToNext(createSampleResponse());
    await flushImmediates();
    clock.advance(1_000);
    authKeys.respondToNext(notFoundResponse);
    expect(await pendingCall).toBe("INVALID_API_KEY");
  });

  test("sends its own request when the request that a create joined turns out too old", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const firstCall = identity.authenticateApiKey(key, listOptions);
    clock.advance(900);
    const secondCall = getOutcome(identity.authenticateApiKey(key, createOptions));
    clock.advance(200);
    authKeys.respondToNext(createSampleResponse());
    await firstCall;
    await flushImmediates();
    expect(authKeys.requests).toHaveLength(2);
    authKeys.respondToNext(notFoundResponse);
    expect(await secondCall).toBe("INVALID_API_KEY");
  });

  test("treats a cached response as not fresh when the clock is set back to before its request", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    clock.advance(-1);
    expect(identity.findCachedApiKeyCaller(key, 5_000)).toBeUndefined();
  });

  test("does not make a cached response younger when the clock is set back", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, createOptions);
    authKeys.respondWith(notFoundResponse);
    clock.advance(30_000);
    clock.setBack(29_500);
    expect(identity.findCachedApiKeyCaller(key, createOptions.maxAgeMs)).toBeUndefined();
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      "INVALID_API_KEY",
    );
  });

  test("requests an unknown key once in 5 s for list and once per second for create", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(notFoundResponse);
    const countRequests = async (options: { maxAgeMs: number }) => {
      for (let call = 0; call < 20; call += 1) {
        expect(await getOutcome(identity.authenticateApiKey(key, options))).toBe("INVALID_API_KEY");
      }
      return authKeys.requests.length;
    };
    expect(await countRequests(listOptions)).toBe(1);
    clock.advance(5_000);
    expect(await countRequests(listOptions)).toBe(1);
    clock.advance(1);
    expect(await countRequests(listOptions)).toBe(2);
    clock.advance(1_001);
    expect(await countRequests(createOptions)).toBe(3);
  });

  test("caches an unknown key for at most 5 s, even if the caller accepts an older response", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(notFoundResponse);
    await getOutcome(identity.authenticateApiKey(key, { maxAgeMs: 60_000 }));
    clock.advance(5_001);
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateApiKey(key, { maxAgeMs: 60_000 }))).toBe(
      "accepted",
    );
  });

  test("does not evict known keys during a flood of invented keys", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    authKeys.respondWith(notFoundResponse);
    const unknownKeys = Array.from({ length: 12_000 }, () => generateApiKey("test"));
    await Promise.all(
      unknownKeys
        .slice(0, 600)
        .map((unknownKey) => getOutcome(identity.authenticateApiKey(unknownKey, listOptions))),
    );
    for (const unknownKey of unknownKeys.slice(600))
      await getOutcome(identity.authenticateApiKey(unknownKey, listOptions));
    expect(identity.findCachedApiKeyCaller(key, 5_000)).toBeDefined();
    // The cache is bounded, so the first invented key was evicted.
    const requestCount = authKeys.requests.length;
    await getOutcome(identity.authenticateApiKey(unknownKeys[0] ?? "", listOptions));
    expect(authKeys.requests).toHaveLength(requestCount + 1);
  });
});

describe("expiry (rule CALLER-3)", () => {
  test("expires a key at its instant by the local clock, even while it is cached", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse(new Date(startedAt.getTime() + 500)));
    await identity.authenticateApiKey(key, createOptions);
    clock.advance(499);
    expect(identity.findCachedApiKeyCaller(key, 1_000)).toBeDefined();
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe("accepted");
    clock.advance(1);
    expect(identity.findCachedApiKeyCaller(key, 1_000)).toBeUndefined();
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      "EXPIRED_API_KEY",
    );
    expect(authKeys.requests).toHaveLength(1);
  });

  test("rejects a key that expires while its introspection request is in flight", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = getOutcome(identity.authenticateApiKey(key, listOptions));
    clock.advance(500);
    authKeys.respondToNext(createSampleResponse(new Date(startedAt.getTime() + 500)));
    expect(await pendingCall).toBe("EXPIRED_API_KEY");
  });

  test("expires a session in the same way, also one served stale while auth-keys is unavailable", async () => {
    const { authKeys, clock, identity } = createIdentityRig();
    authKeys.respondWith(createSampleResponse(new Date(startedAt.getTime() + 20_000)));
    await identity.authenticateSession("token", listOptions);
    authKeys.respondWith(connectionRefused);
    clock.advance(19_999);
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe("accepted");
    clock.advance(1);
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe(
      "UNAUTHENTICATED",
    );
  });
});

/** Waits until all pending microtasks and immediates have run. */
const flushImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
