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

describe("how long an answer lives", () => {
  test.each([createOptions, listOptions])(
    "to the millisecond: fresh for $maxAgeMs ms",
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

  test("one answer serves list for 5 s while create asks again after 1 s (rule CALLER-3)", async () => {
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
    // The newer answer is good for a list as well.
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("INVALID_API_KEY");
    expect(authKeys.requests).toHaveLength(2);
  });

  test("its age counts from the question, not from the answer", async () => {
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

  test("create does not take an answer whose question was asked more than 1 s ago, three times", async () => {
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

  test("a create whose question was held up asks again, and takes that answer", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = getOutcome(identity.authenticateApiKey(key, createOptions));
    clock.advance(1_001);
    authKeys.respondToNext(createSampleResponse());
    await flushImmediates();
    clock.advance(1_000);
    authKeys.respondToNext(notFoundResponse);
    expect(await pendingCall).toBe("INVALID_API_KEY");
  });

  test("a create that joined a question grown too old asks its own, and takes that answer", async () => {
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

  test("a clock set back makes an answer of unknown age, which is not fresh", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    clock.advance(-1);
    expect(identity.findCachedApiKeyCaller(key, 5_000)).toBeUndefined();
  });

  test("a clock set back makes no answer younger than it is", async () => {
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

  test("an unknown key is asked about once in 5 s by list, and once a second by create", async () => {
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

  test("an unknown key's answer lasts 5 s at most, however stale the asker would take one", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(notFoundResponse);
    await getOutcome(identity.authenticateApiKey(key, { maxAgeMs: 60_000 }));
    clock.advance(5_001);
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateApiKey(key, { maxAgeMs: 60_000 }))).toBe(
      "accepted",
    );
  });

  test("a flood of invented keys pushes no known one out", async () => {
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
    // The memory has a bound: the first invented key was forgotten.
    const requestCount = authKeys.requests.length;
    await getOutcome(identity.authenticateApiKey(unknownKeys[0] ?? "", listOptions));
    expect(authKeys.requests).toHaveLength(requestCount + 1);
  });
});

describe("expiry (rule CALLER-3)", () => {
  test("a key ends at its instant by the local clock, whatever is kept", async () => {
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

  test("a key that ends while it is asked about is refused", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    const pendingCall = getOutcome(identity.authenticateApiKey(key, listOptions));
    clock.advance(500);
    authKeys.respondToNext(createSampleResponse(new Date(startedAt.getTime() + 500)));
    expect(await pendingCall).toBe("EXPIRED_API_KEY");
  });

  test("a session ends likewise, and so does a stale one while auth-keys is away", async () => {
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

/** Lets everything run that only waits for its turn. */
const flushImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
