import { describe, expect, test } from "@jest/globals";
import { type ApiKey, isLimitRaised, buildApiKey, buildRotatedKeys } from "./api-key.ts";

const createdAt = new Date("2026-11-21T10:00:00.000Z");
const hourMs = 3_600_000;
const hoursAfterCreation = (hours: number): Date => new Date(createdAt.getTime() + hours * hourMs);

const createKey = (overrides: Partial<ApiKey> = {}): ApiKey => ({
  ...buildApiKey({
    id: "key_1",
    name: "shop",
    prefix: "plk_live_abcd",
    mode: "live",
    scopes: ["payment_link:read"],
    cidrs: ["203.0.113.0/24"],
    requestsPerMinute: 60,
    burst: null,
    expiresAt: null,
    now: createdAt,
  }),
  ...overrides,
});

const rotate = (oldKey: ApiKey, { hours = 24, now = hoursAfterCreation(1) } = {}) =>
  buildRotatedKeys(oldKey, {
    id: "key_2",
    prefix: "plk_live_efgh",
    overlapSeconds: hours * 3600,
    now,
  });

describe("buildRotatedKeys (rule CALLER-5)", () => {
  test("creates a key that takes over only the name, scopes, limits and bucket of the old key", () => {
    const oldKey = createKey({ bucketId: "key_0", lastUsedAt: createdAt });
    expect(rotate(oldKey).newKey).toEqual({
      id: "key_2",
      name: "shop",
      prefix: "plk_live_efgh",
      mode: "live",
      scopes: ["payment_link:read"],
      cidrs: ["203.0.113.0/24"],
      requestsPerMinute: 60,
      burst: null,
      expiresAt: null,
      isActive: true,
      replacedBy: null,
      bucketId: "key_0",
      dateCreated: hoursAfterCreation(1),
      lastUsedAt: null,
      lastUsedAddress: null,
    });
  });

  test.each([
    ["without an expiry", null, 24, hoursAfterCreation(25)],
    ["that expires after the overlap", hoursAfterCreation(26), 24, hoursAfterCreation(25)],
    ["that expires within the overlap", hoursAfterCreation(24), 24, hoursAfterCreation(24)],
    ["without an overlap", null, 0, hoursAfterCreation(1)],
  ])(
    "expires a replaced key %s at the earlier of both ends",
    (_name, expiresAt, hours, expectedEnd) => {
      const { replacedKey } = rotate(createKey({ expiresAt }), { hours });
      expect(replacedKey).toEqual({ ...createKey(), expiresAt: expectedEnd, replacedBy: "key_2" });
    },
  );

  test("gives the new key the same lifetime that the old key had", () => {
    const { newKey } = rotate(createKey({ expiresAt: hoursAfterCreation(100) }), {
      now: hoursAfterCreation(40),
    });
    expect(newKey.expiresAt).toEqual(hoursAfterCreation(140));
  });

  test("limits the expiry to the latest timestamp that the wire format can express", () => {
    const expectedEnd = new Date("9999-12-31T23:59:59.000Z");
    const { newKey } = rotate(createKey({ expiresAt: expectedEnd }), {
      now: hoursAfterCreation(40),
    });
    expect(newKey.expiresAt?.toISOString()).toBe("9999-12-31T23:59:59.999Z");
  });

  test.each([
    ["inactive", { isActive: false }, "API_KEY_NOT_ACTIVE"],
    ["expired at this instant", { expiresAt: hoursAfterCreation(1) }, "API_KEY_NOT_ACTIVE"],
    ["replaced", { expiresAt: hoursAfterCreation(2), replacedBy: "key_3" }, "API_KEY_REPLACED"],
  ])("does not rotate a key that is %s", (_name, overrides, code) => {
    expect(() => rotate(createKey(overrides))).toThrow(code);
  });
});

describe("isLimitRaised", () => {
  const baseLimit = { requestsPerMinute: 60, burst: 5 };
  const noLimit = { requestsPerMinute: null, burst: null };
  test.each([
    ["the same limits", baseLimit, baseLimit, false],
    ["no limits before and after", noLimit, noLimit, false],
    ["a lower rate", { ...baseLimit, requestsPerMinute: 59 }, baseLimit, false],
    ["a lower burst", { ...baseLimit, burst: 4 }, baseLimit, false],
    ["a limit where there was none", baseLimit, noLimit, false],
    ["a higher rate, despite a lower burst", { requestsPerMinute: 61, burst: 1 }, baseLimit, true],
    ["a higher burst, despite a lower rate", { requestsPerMinute: 1, burst: 6 }, baseLimit, true],
    ["no rate limit", { ...baseLimit, requestsPerMinute: null }, baseLimit, true],
    ["no burst limit", { ...baseLimit, burst: null }, baseLimit, true],
  ])("%s", (_name, limit, previousLimit, isRaised) => {
    expect(isLimitRaised(limit, previousLimit)).toBe(isRaised);
  });
});
