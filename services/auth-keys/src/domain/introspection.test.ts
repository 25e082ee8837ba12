import { describe, expect, test } from "@jest/globals";
import { openAccount } from "./account.ts";
import { type FoundKey, judgeKey, judgeSession } from "./introspection.ts";
import { sessionIdleMs } from "./session.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const after = (ms: number): Date => new Date(now.getTime() + ms);
const account = openAccount({ id: "user_1", handle: null, username: "A", isVerified: true, now });

const found: FoundKey = {
  ...account,
  credentialId: "key_2",
  bucketId: "key_1",
  scopes: ["payment_link:read"],
  cidrs: null,
  requestsPerMinute: null,
  burst: null,
  expiresAt: null,
  isActive: true,
  isRevoked: false,
};

describe("judgeKey (rule CALLER-1)", () => {
  test.each([
    ["unknown", undefined, "unknown", false],
    ["active", found, "valid", true],
    ["not yet expired", { ...found, expiresAt: after(1) }, "valid", true],
    ["expired this instant", { ...found, expiresAt: now }, "expired", true],
    ["switched off", { ...found, isActive: false }, "inactive", false],
    ["a suspended account's", { ...found, isSuspended: true }, "suspended", true],
    ["revoked", { ...found, isRevoked: true }, "revoked", false],
    ["revoked and expired", { ...found, isRevoked: true, expiresAt: now }, "revoked", false],
    ["switched off and expired", { ...found, isActive: false, expiresAt: now }, "inactive", false],
  ])("a key that is %s", (_name, key, outcome, isFound) => {
    const judged = judgeKey(key, now);
    expect(judged.outcome).toBe(outcome);
    expect(judged.answer.found).toBe(isFound);
  });

  test("tells the account and the credential, and nothing of the row besides", () => {
    expect(judgeKey(found, now).answer).toEqual({
      found: true,
      account,
      credential: {
        id: "key_2",
        bucketId: "key_1",
        scopes: ["payment_link:read"],
        expiresAt: null,
      },
    });
  });
});

describe("judgeSession", () => {
  const asked = { now, methods: ["link", "siwe"] as const };
  const session = {
    ...account,
    credentialId: "sess_1",
    method: "siwe",
    lastSeenAt: now,
    expiresAt: after(9),
    provenAt: after(-7),
    ownMethods: [],
  };
  const endOf = (lastSeenAt: Date, expiresAt: Date) => {
    const { outcome, answer } = judgeSession({ ...session, lastSeenAt, expiresAt }, asked);
    return [outcome, answer.found ? answer.credential.expiresAt : undefined];
  };

  test.each([
    ["in use", now, after(12 * 3_600_000), "valid", after(sessionIdleMs)],
    ["near its absolute end", now, after(5), "valid", after(5)],
    ["at its absolute end", now, now, "expired", now],
    [
      "just not idle too long",
      after(1 - sessionIdleMs),
      after(sessionIdleMs * 2),
      "valid",
      after(sessionIdleMs),
    ],
    [
      "idle too long, past its absolute end",
      after(-sessionIdleMs),
      after(-1),
      "expired",
      after(-1),
    ],
    ["idle too long", after(-sessionIdleMs), after(sessionIdleMs), "expired", now],
  ])("a session %s", (_name, lastSeenAt, expiresAt, outcome, end) => {
    expect(endOf(lastSeenAt, expiresAt)).toEqual([outcome, end]);
  });

  test("has no scopes, as an API key's routes are closed to it, and a rate bucket of its own", () => {
    const { answer } = judgeSession(session, asked);
    const credential = { id: "sess_1", bucketId: "sess_1", scopes: [], method: "siwe" };
    expect(answer).toMatchObject({ found: true, credential });
  });

  test("of a suspended account is found, and counts as no use", () => {
    const { outcome, answer } = judgeSession({ ...session, isSuspended: true }, asked);
    expect([outcome, answer.found]).toEqual(["suspended", true]);
  });

  test("tells when presence was proven, and the ways of the account that there are here", () => {
    const presenceOf = (ownMethods: string[]) => {
      const { answer } = judgeSession({ ...session, ownMethods }, asked);
      return answer.found ? answer.credential.presence : undefined;
    };
    expect(presenceOf(["oidc"])).toEqual({ provenAt: after(-7), methods: ["link"] });
    expect(presenceOf(["siwe", "oidc"])?.methods).toEqual(["link", "siwe"]);
  });
});
