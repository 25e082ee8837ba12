import { describe, expect, test } from "@jest/globals";
import { hashSecret, generateApiKey } from "@payment-links/contracts";
import { InvalidIntrospectionResponse } from "./caller.ts";
import {
  connectionRefused,
  createOptions,
  listOptions,
  notFoundResponse,
  createIdentityRig,
  getOutcome,
  unavailableErrorName,
} from "./testing/identity-rig.ts";
import { createSampleResponse } from "./testing/sample-response.ts";

describe("while auth-keys is unavailable", () => {
  test("serves a list request from a cached response until 60 s after the introspection request, and no longer", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    authKeys.respondWith(connectionRefused);
    clock.advance(60_000);
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("accepted");
    clock.advance(1);
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe(
      unavailableErrorName,
    );
  });

  test("serves a create request from a cached response for 1 s, and no longer", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, createOptions);
    authKeys.respondWith(connectionRefused);
    clock.advance(1_000);
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe("accepted");
    clock.advance(1);
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      unavailableErrorName,
    );
  });

  test("keeps rejecting an unknown key from the cached response", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(notFoundResponse);
    await getOutcome(identity.authenticateApiKey(key, listOptions));
    authKeys.respondWith(connectionRefused);
    clock.advance(30_000);
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("INVALID_API_KEY");
    expect(await getOutcome(identity.authenticateApiKey(key, createOptions))).toBe(
      unavailableErrorName,
    );
  });

  test("fails for a key that was never seen, and keeps the cause for the log", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    authKeys.respondWith(connectionRefused);
    await expect(identity.authenticateApiKey(key, listOptions)).rejects.toMatchObject({
      name: unavailableErrorName,
      cause: connectionRefused,
    });
  });

  test("sends one probe every 500 ms after a failure, and fails all other calls immediately", async () => {
    const { authKeys, clock, identity } = createIdentityRig();
    const pendingOutcome = getOutcome(
      identity.authenticateApiKey(generateApiKey("test"), listOptions),
    );
    authKeys.respondToNext(connectionRefused);
    expect(await pendingOutcome).toBe(unavailableErrorName);

    const authenticateNewKey = () =>
      getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions));
    expect(
      await Promise.all([authenticateNewKey(), authenticateNewKey(), authenticateNewKey()]),
    ).toEqual(Array(3).fill(unavailableErrorName));
    expect(authKeys.requests).toHaveLength(1);

    clock.advance(500);
    const probe = authenticateNewKey();
    // While the probe is in flight, other calls fail without waiting.
    expect(await Promise.all([authenticateNewKey(), authenticateNewKey()])).toEqual(
      Array(2).fill(unavailableErrorName),
    );
    expect(authKeys.requests).toHaveLength(2);
    authKeys.respondToNext(connectionRefused);
    expect(await probe).toBe(unavailableErrorName);
    expect(await authenticateNewKey()).toBe(unavailableErrorName);
    expect(authKeys.requests).toHaveLength(2);

    clock.advance(500);
    authKeys.respondWith(createSampleResponse());
    expect(await authenticateNewKey()).toBe("accepted");
    expect(await Promise.all([authenticateNewKey(), authenticateNewKey()])).toEqual([
      "accepted",
      "accepted",
    ]);
  });

  test("does not block other keys after an unreadable response about one key", async () => {
    const { authKeys, identity, key } = createIdentityRig();
    authKeys.respondWith(new InvalidIntrospectionResponse("garbled"));
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe(
      unavailableErrorName,
    );
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions))).toBe(
      "accepted",
    );
  });

  test("ends the outage on an unreadable response about one key, because auth-keys did respond", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(connectionRefused);
    await getOutcome(identity.authenticateApiKey(key, listOptions));
    clock.advance(500);
    authKeys.respondWith(new InvalidIntrospectionResponse("garbled"));
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe(
      unavailableErrorName,
    );
    authKeys.respondWith(createSampleResponse());
    // The circuit is closed again, so parallel calls succeed without waiting for a probe.
    const authenticateNewKey = () =>
      getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions));
    expect(await Promise.all([authenticateNewKey(), authenticateNewKey()])).toEqual([
      "accepted",
      "accepted",
    ]);
  });

  test("probes immediately when the clock is set back", async () => {
    const { authKeys, clock, identity, key } = createIdentityRig();
    authKeys.respondWith(connectionRefused);
    await getOutcome(identity.authenticateApiKey(key, listOptions));
    clock.advance(-1);
    authKeys.respondWith(createSampleResponse());
    expect(await getOutcome(identity.authenticateApiKey(key, listOptions))).toBe("accepted");
  });

  test("logs the start and the end of an outage once each, without the key", async () => {
    const { authKeys, clock, identity, key, logLines } = createIdentityRig();
    authKeys.respondWith(connectionRefused);
    for (let call = 0; call < 5; call += 1) {
      await getOutcome(identity.authenticateApiKey(key, listOptions));
      clock.advance(500);
    }
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    await identity.authenticateApiKey(generateApiKey("test"), listOptions);
    expect(logLines.map((line) => JSON.parse(line).msg)).toEqual([
      "auth-keys unreachable",
      "auth-keys reachable again",
    ]);
    expect(logLines.join("")).not.toContain(key);
    expect(logLines.join("")).not.toContain(hashSecret(key).toString("hex"));
  });

  test("reports requests, their outcomes, stale responses and the outage itself as metrics", async () => {
    const { authKeys, clock, identity, key, metrics } = createIdentityRig();
    authKeys.respondWith(createSampleResponse());
    await identity.authenticateApiKey(key, listOptions);
    authKeys.respondWith(notFoundResponse);
    await getOutcome(identity.authenticateSession("nobody", listOptions));
    authKeys.respondWith(connectionRefused);
    clock.advance(6_000);
    await identity.authenticateApiKey(key, listOptions);
    await identity.authenticateApiKey(key, listOptions);
    const text = await metrics.metrics();
    for (const line of [
      'questions_total{kind="api-key",outcome="found",service="test"} 1',
      'questions_total{kind="session",outcome="not_found",service="test"} 1',
      'questions_total{kind="api-key",outcome="failed",service="test"} 1',
      'question_duration_seconds_count{service="test",kind="api-key"} 2',
      'stale_answers_total{kind="api-key",service="test"} 2',
      'unreachable{service="test"} 1',
    ]) {
      expect(text).toContain(`payment_links_identity_${line}\n`);
    }
  });

  test("reports unreachable for 4 minutes after the last failure, because no later request may show a recovery", async () => {
    const { authKeys, clock, identity, metrics } = createIdentityRig();
    const authenticateNewKey = () =>
      getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions));
    const isReportedUnreachable = async () => {
      const text = await metrics.getSingleMetricAsString("payment_links_identity_unreachable");
      return text.endsWith('{service="test"} 1');
    };
    expect(await isReportedUnreachable()).toBe(false);
    authKeys.respondWith(connectionRefused);
    for (let call = 0; call < 10; call += 1) {
      await authenticateNewKey();
      expect(await isReportedUnreachable()).toBe(true);
      clock.advance(239_999);
      expect(await isReportedUnreachable()).toBe(true);
    }
    // The gauge does not stay at 1 longer when the wall clock is set back.
    clock.setBack(3_600_000);
    expect(await isReportedUnreachable()).toBe(true);
    clock.advance(1);
    expect(await isReportedUnreachable()).toBe(false);

    await authenticateNewKey();
    expect(await isReportedUnreachable()).toBe(true);
    clock.advance(500);
    authKeys.respondWith(createSampleResponse());
    expect(await authenticateNewKey()).toBe("accepted");
    expect(await isReportedUnreachable()).toBe(false);
  });

  test("limits the requests in flight, and fails further requests immediately", async () => {
    const { authKeys, identity } = createIdentityRig();
    const outcomes = Array.from({ length: 1_000 }, () =>
      getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions)),
    );
    expect(await getOutcome(identity.authenticateApiKey(generateApiKey("test"), listOptions))).toBe(
      unavailableErrorName,
    );
    expect(authKeys.requests).toHaveLength(1_000);
    for (let call = 0; call < 1_000; call += 1) authKeys.respondToNext(createSampleResponse());
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["accepted"]));
  });
});
