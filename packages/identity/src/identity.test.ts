import { describe, expect, test } from "@jest/globals";
import { hashSecret } from "@payment-links/contracts";
import { InvalidIntrospectionResponse } from "./caller.ts";
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

describe("API keys", () => {
  test("returns the caller that auth-keys reports, and sends only the key's hash", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    const response = createSampleResponse();
    authKeys.respondWith(response);
    const { account, credential } = response;
    expect(await identity.authenticateApiKey(key, createOptions)).toEqual({ account, credential });
    expect(authKeys.requests).toEqual([{ kind: "api-key", hash: hashSecret(key).toString("hex") }]);
  });

  test("sends the caller's address with the introspection request", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, { ...listOptions, address: "203.0.113.9" });
    expect(authKeys.requests).toMatchObject([{ kind: "api-key", address: "203.0.113.9" }]);
  });

  test("rejects a suspended account's key and session with ACCOUNT_SUSPENDED (rule CALLER-17)", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    const { account, credential } = createSampleResponse();
    authKeys.respondWith({ found: true, account: { ...account, isSuspended: true }, credential });
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      "ACCOUNT_SUSPENDED",
    );
    expect(identity.findCachedApiKeyCaller(key, createOptions.maxAgeMs)).toBeUndefined();
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe(
      "ACCOUNT_SUSPENDED",
    );
  });

  test("rejects a malformed key without an introspection request (rule CALLER-2)", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    const keyWithWrongChecksum = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    for (const text of [
      "",
      "x",
      keyWithWrongChecksum,
      `${key} `,
      key.toUpperCase(),
      "k".repeat(100_000),
    ]) {
      expect(identity.findCachedApiKeyCaller(text, 5_000)).toBeUndefined();
      expect(await getOutcome(identity.authenticateApiKey(text, listOptions))).toBe(
        "INVALID_API_KEY",
      );
    }
    expect(authKeys.requests).toEqual([]);
  });

  test("shares one introspection request among concurrent callers with the same key", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    const pendingCalls = Array.from({ length: 50 }, () =>
      identity.authenticateApiKey(key, listOptions),
    );
    expect(authKeys.requests).toHaveLength(1);
    authKeys.respondToNext(createSampleResponse());
    expect(new Set(await Promise.all(pendingCalls)).size).toBe(1);
  });

  test("sends a new request for the next caller after a shared request failed", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    const pendingCalls = [
      identity.authenticateApiKey(key, listOptions),
      identity.authenticateApiKey(key, listOptions),
    ];
    authKeys.respondToNext(new InvalidIntrospectionResponse("garbled"));
    expect(await Promise.all(pendingCalls.map(getOutcome))).toEqual([
      unavailableErrorName,
      unavailableErrorName,
    ]);
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("accepted");
  });

  test("treats an API key presented as a session token as a separate credential", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    authKeys.respondWith(notFoundResponse);
    expect(await getOutcome(identity.authenticateSession(key, listOptions))).toBe(
      "UNAUTHENTICATED",
    );
    expect(authKeys.requests.map(({ kind }) => kind)).toEqual(["api-key", "session"]);
  });
});

describe("sessions", () => {
  test("does not authorize writes with an old response while auth-keys is unavailable", async () => {
    const { authKeys, clock, identity } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateSession("token", createOptions);
    authKeys.respondWith(connectionRefused);
    clock.advance(1_000);
    expect(await getOutcome(identity.authenticateSession("token", createOptions))).toBe("accepted");
    clock.advance(1);
    expect(await getOutcome(identity.authenticateSession("token", createOptions))).toBe(
      unavailableErrorName,
    );
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe("accepted");
  });

  test("sends at most one introspection request per session every 5 s", async () => {
    const { authKeys, clock, identity } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateSession("token", listOptions);
    clock.advance(5_000);
    await identity.authenticateSession("token", listOptions);
    expect(authKeys.requests).toEqual([
      { kind: "session", hash: hashSecret("token").toString("hex") },
    ]);
    clock.advance(1);
    await identity.authenticateSession("token", listOptions);
    expect(authKeys.requests).toHaveLength(2);
  });

  test("rejects a malformed token without an introspection request", async () => {
    const { authKeys, identity } = createIdentityRig();
    for (const token of ["", "t".repeat(257)]) {
      expect(await getOutcome(identity.authenticateSession(token, listOptions))).toBe(
        "UNAUTHENTICATED",
      );
    }
    expect(authKeys.requests).toEqual([]);
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateSession("t".repeat(256), listOptions))).toBe(
      "accepted",
    );
  });

  test("requires a new proof of presence 10 minutes after the last one, and if none is known (rule CALLER-19)", async () => {
    const { authKeys, clock, identity } = createIdentityRig();
    const { account, credential } = createSampleResponse();
    const presence = { provenAt: startedAt, methods: ["link"] };
    authKeys.respondWith({ found: true, account, credential: { ...credential, presence } });
    const authenticateWithPresence = (token: string) =>
      getOutcome(identity.authenticateSession(token, { ...createOptions, needsPresence: true }));
    clock.advance(10 * 60 * 1000 - 1);
    expect(await authenticateWithPresence("token")).toBe("accepted");
    clock.advance(1);
    expect(await authenticateWithPresence("token")).toBe("REAUTHENTICATION_REQUIRED");
    expect(await getOutcome(identity.authenticateSession("token", createOptions))).toBe("accepted");
    authKeys.respondWith(createSampleResponse());
    expect(await authenticateWithPresence("other")).toBe("REAUTHENTICATION_REQUIRED");
  });

  test("sends a new request for an invalidated session", async () => {
    const { authKeys, identity } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateSession("token", listOptions);
    identity.invalidateSession("token");
    authKeys.respondWith(notFoundResponse);
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe(
      "UNAUTHENTICATED",
    );
  });

  test("does not restore a session that was invalidated while its request was in flight", async () => {
    const { authKeys, identity } = createIdentityRig();
    const callBefore = identity.authenticateSession("token", listOptions);
    identity.invalidateSession("token");
    const outcomeAfter = getOutcome(identity.authenticateSession("token", listOptions));
    expect(authKeys.requests).toHaveLength(2);
    authKeys.respondToNext(createSampleResponse());
    await callBefore;
    authKeys.respondToNext(notFoundResponse);
    expect(await outcomeAfter).toBe("UNAUTHENTICATED");
    authKeys.respondWith(connectionRefused);
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe(
      "UNAUTHENTICATED",
    );
  });

  test("does not cache the response to a request sent before the session was invalidated", async () => {
    const { authKeys, identity } = createIdentityRig();
    const callBefore = identity.authenticateSession("token", listOptions);
    identity.invalidateSession("token");
    authKeys.respondToNext(createSampleResponse());
    await callBefore;
    authKeys.respondWith(notFoundResponse);
    expect(await getOutcome(identity.authenticateSession("token", listOptions))).toBe(
      "UNAUTHENTICATED",
    );
  });
});
