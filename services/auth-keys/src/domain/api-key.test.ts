import { describe, expect, test } from "@jest/globals";
import { type ApiKey, isLooser, openApiKey, rotateApiKey } from "./api-key.ts";

const made = new Date("2026-11-21T10:00:00.000Z");
const hourMs = 3_600_000;
const after = (hours: number): Date => new Date(made.getTime() + hours * hourMs);

const key = (more: Partial<ApiKey> = {}): ApiKey => ({
  ...openApiKey({
    id: "key_1",
    name: "shop",
    prefix: "plk_live_abcd",
    scopes: ["payment_link:read"],
    cidrs: ["203.0.113.0/24"],
    requestsPerMinute: 60,
    burst: null,
    expiresAt: null,
    now: made,
  }),
  ...more,
});

const rotate = (old: ApiKey, { hours = 24, now = after(1) } = {}) =>
  rotateApiKey(old, { id: "key_2", prefix: "plk_live_efgh", overlapSeconds: hours * 3600, now });

describe("rotateApiKey (rule CALLER-5)", () => {
  test("opens a key with the same name, scopes and bucket, and as nothing else of the old one", () => {
    const old = key({ bucketId: "key_0", lastUsedAt: made });
    expect(rotate(old).opened).toEqual({
      id: "key_2",
      name: "shop",
      prefix: "plk_live_efgh",
      scopes: ["payment_link:read"],
      cidrs: ["203.0.113.0/24"],
      requestsPerMinute: 60,
      burst: null,
      expiresAt: null,
      isActive: true,
      replacedBy: null,
      bucketId: "key_0",
      dateCreated: after(1),
      lastUsedAt: null,
      lastUsedAddress: null,
    });
  });

  test.each([
    ["without an expiry", null, 24, after(25)],
    ["that expires after the overlap", after(26), 24, after(25)],
    ["that expires within the overlap", after(24), 24, after(24)],
    ["given no overlap", null, 0, after(1)],
  ])("a replaced key %s ends at the nearer end", (_name, expiresAt, hours, end) => {
    const { replaced } = rotate(key({ expiresAt }), { hours });
    expect(replaced).toEqual({ ...key(), expiresAt: end, replacedBy: "key_2" });
  });

  test("the new key lives as long as the old one was made to live", () => {
    const { opened } = rotate(key({ expiresAt: after(100) }), { now: after(40) });
    expect(opened.expiresAt).toEqual(after(140));
  });

  test("no life goes beyond what the wire can carry", () => {
    const end = new Date("9999-12-31T23:59:59.000Z");
    const { opened } = rotate(key({ expiresAt: end }), { now: after(40) });
    expect(opened.expiresAt?.toISOString()).toBe("9999-12-31T23:59:59.999Z");
  });

  test.each([
    ["switched off", { isActive: false }, "API_KEY_NOT_ACTIVE"],
    ["expired this instant", { expiresAt: after(1) }, "API_KEY_NOT_ACTIVE"],
    ["replaced", { expiresAt: after(2), replacedBy: "key_3" }, "API_KEY_REPLACED"],
  ])("a key that is %s is not rotated", (_name, more, code) => {
    expect(() => rotate(key(more))).toThrow(code);
  });
});

describe("isLooser", () => {
  const before = { requestsPerMinute: 60, burst: 5 };
  const none = { requestsPerMinute: null, burst: null };
  test.each([
    ["the same", before, before, false],
    ["the same, none", none, none, false],
    ["fewer in a minute", { ...before, requestsPerMinute: 59 }, before, false],
    ["fewer at once", { ...before, burst: 4 }, before, false],
    ["a limit where there was none", before, none, false],
    ["more in a minute, though fewer at once", { requestsPerMinute: 61, burst: 1 }, before, true],
    ["more at once, though fewer in a minute", { requestsPerMinute: 1, burst: 6 }, before, true],
    ["no limit in a minute", { ...before, requestsPerMinute: null }, before, true],
    ["no limit at once", { ...before, burst: null }, before, true],
  ])("%s", (_name, limit, former, looser) => {
    expect(isLooser(limit, former)).toBe(looser);
  });
});
