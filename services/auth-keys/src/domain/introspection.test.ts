import { describe, expect, test } from "@jest/globals";
import { buildAccount } from "./account.ts";
import { type KeyCredential, evaluateKey, evaluateSession } from "./introspection.ts";
import { sessionIdleMs } from "./session.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const msAfterNow = (ms: number): Date => new Date(now.getTime() + ms);
const account = buildAccount({ id: "user_1", handle: null, username: "A", isVerified: true, now });

const activeKey: KeyCredential = {
  ...account,
  credentialId: "key_2",
  bucketId: "key_1",
  mode: "live",
  scopes: ["payment_link:read"],
  cidrs: null,
  requestsPerMinute: null,
  burst: null,
  expiresAt: null,
  isActive: true,
  isRevoked: false,
};

describe("evaluateKey (rule CALLER-1)", () => {
  test.each([
    ["unknown", undefined, "unknown", false],
    ["active", activeKey, "valid", true],
    ["not yet expired", { ...activeKey, expiresAt: msAfterNow(1) }, "valid", true],
    ["expired at this instant", { ...activeKey, expiresAt: now }, "expired", true],
    ["inactive", { ...activeKey, isActive: false }, "inactive", false],
    ["of a suspended account", { ...activeKey, isSuspended: true }, "suspended", true],
    ["revoked", { ...activeKey, isRevoked: true }, "revoked", false],
    ["revoked and expired", { ...activeKey, isRevoked: true, expiresAt: now }, "revoked", false],
    ["inactive and expired", { ...activeKey, isActive: false, expiresAt: now }, "inactive", false],
  ])("evaluates a key that is %s", (_name, key, outcome, isFound) => {
    const evaluation = evaluateKey(key, now);
    expect(evaluation.outcome).toBe(outcome);
    expect(evaluation.response.found).toBe(isFound);
  });

  test("returns only the account and the credential from the row", () => {
    expect(evaluateKey(activeKey, now).response).toEqual({
      found: true,
      account,
      credential: {
        id: "key_2",
        bucketId: "key_1",
        scopes: ["payment_link:read"],
        expiresAt: null,
        mode: "live",
      },
    });
  });
});

describe("evaluateSession", () => {
  const options = { now, enabledMethods: ["link", "siwe"] as const };
  const session = {
    ...account,
    credentialId: "sess_1",
    method: "siwe",
    lastSeenAt: now,
    expiresAt: msAfterNow(9),
    provenAt: msAfterNow(-7),
    ownMethods: [],
  };
  const evaluateEnd = (lastSeenAt: Date, expiresAt: Date) => {
    const { outcome, response } = evaluateSession({ ...session, lastSeenAt, expiresAt }, options);
    return [outcome, response.found ? response.credential.expiresAt : undefined];
  };

  test.each([
    ["in use", now, msAfterNow(12 * 3_600_000), "valid", msAfterNow(sessionIdleMs)],
    ["near its absolute end", now, msAfterNow(5), "valid", msAfterNow(5)],
    ["at its absolute end", now, now, "expired", now],
    [
      "shortly before its idle timeout",
      msAfterNow(1 - sessionIdleMs),
      msAfterNow(sessionIdleMs * 2),
      "valid",
      msAfterNow(sessionIdleMs),
    ],
    [
      "idle for too long and past its absolute end",
      msAfterNow(-sessionIdleMs),
      msAfterNow(-1),
      "expired",
      msAfterNow(-1),
    ],
    ["idle for too long", msAfterNow(-sessionIdleMs), msAfterNow(sessionIdleMs), "expired", now],
  ])("evaluates a session %s", (_name, lastSeenAt, expiresAt, outcome, expectedEnd) => {
    expect(evaluateEnd(lastSeenAt, expiresAt)).toEqual([outcome, expectedEnd]);
  });

  test("has no scopes, because API key routes reject sessions, and its own rate-limit bucket", () => {
    const { response } = evaluateSession(session, options);
    const credential = { id: "sess_1", bucketId: "sess_1", scopes: [], method: "siwe" };
    expect(response).toMatchObject({ found: true, credential });
  });

  test("finds the session of a suspended account, without counting it as a use", () => {
    const { outcome, response } = evaluateSession({ ...session, isSuspended: true }, options);
    expect([outcome, response.found]).toEqual(["suspended", true]);
  });

  test("returns when presence was proven, and the account's enabled methods", () => {
    const getPresence = (accountMethods: string[]) => {
      const { response } = evaluateSession({ ...session, ownMethods: accountMethods }, options);
      return response.found ? response.credential.presence : undefined;
    };
    expect(getPresence(["oidc"])).toEqual({ provenAt: msAfterNow(-7), methods: ["link"] });
    expect(getPresence(["siwe", "oidc"])?.methods).toEqual(["link", "siwe"]);
  });
});
