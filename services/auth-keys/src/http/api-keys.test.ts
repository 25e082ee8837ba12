import { describe, expect, test } from "@jest/globals";
import { isApiKey, loadCatalogue } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { apiKeysMax } from "../domain/api-key.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/api-keys";
const scopes = ["payment_link:create", "payment_link:read"];

const rig = useRig(createRig);

const requestKey = (cookie: string, body: unknown = { name: "shop", scopes }) =>
  rig.call("POST", path, { cookie, body });

const createKey = async (cookie: string, overrides: Record<string, unknown> = {}) => {
  const { status, body } = await requestKey(cookie, { name: "shop", scopes, ...overrides });
  expect(status).toBe(201);
  return { id: String(body["id"]), key: String(body["key"]) };
};

const listKeys = async (cookie: string): Promise<Record<string, unknown>[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as Record<string, unknown>[];
};

describe("POST /console/api/api-keys", () => {
  test("returns the secret key only in this response, and its prefix from then on (rule CALLER-2)", async () => {
    const { userId, cookie } = await rig.signUp();
    const response = await requestKey(cookie, {
      name: "shop",
      scopes: ["payment_link:read"],
      expiresAt: "2027-01-01T00:00:00+02:00",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { key, ...keyData } = response.body;
    expect(isApiKey(String(key))).toBe(true);
    expect(String(key)).toMatch(/^plk_live_/);
    expect(keyData).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "shop",
      prefix: String(key).slice(0, 13),
      mode: "live",
      scopes: ["payment_link:read"],
      expiresAt: "2026-12-31T22:00:00.000Z",
      active: true,
      replacedBy: null,
      cidrs: null,
      requestsPerMinute: null,
      burst: null,
      dateCreated: "2026-11-21T10:00:00.000Z",
      lastUsedAt: null,
      lastUsedAddress: null,
    });
    expect(await listKeys(cookie)).toEqual([keyData]);
    expect(await rig.readAudit(userId)).toContain("api_key.created");
    // API keys are not part of the account that other services receive.
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("creates a key that works immediately with exactly its scopes, without duplicates", async () => {
    const { userId, cookie } = await rig.signUp();
    const duplicateScopes = ["payment_link:read", "payment_link:read"];
    const { id, key } = await createKey(cookie, { scopes: duplicateScopes });
    expect(await rig.introspect("api-key", key)).toMatchObject({
      found: true,
      account: { id: userId },
      credential: { id, bucketId: id, scopes: ["payment_link:read"], expiresAt: null },
    });
  });

  test("limits an account's keys, and a revoked key makes room for a new one (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const { id } = await createKey(cookie);
    for (let count = 2; count <= apiKeysMax - 2; count += 1) await createKey(cookie);
    const responses = await Promise.all(Array.from({ length: 5 }, () => requestKey(cookie)));
    const results = responses.map(summarizeResponse).toSorted();
    expect(results).toEqual(["201", "201", ...Array(3).fill("409 API_KEY_LIMIT")]);
    expect(await listKeys(cookie)).toHaveLength(apiKeysMax);
    await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect((await requestKey(cookie)).status).toBe(201);
  });

  test("creates live keys by default and test keys on request, and rotation keeps the mode (rule MODE-2)", async () => {
    const { cookie } = await rig.signUp();
    for (const mode of [undefined, "live", "test"]) {
      const body = { name: "n", scopes, mode };
      const created = await rig.call("POST", path, { cookie, body });
      const expected = { mode: mode ?? "live", prefix: `plk_${mode ?? "live"}_` };
      const rotated = await rig.call("POST", `${path}/${String(created.body["id"])}/rotate`, {
        cookie,
        body: {},
      });
      for (const response of [created, rotated]) {
        expect(response.body["key"]).toMatch(new RegExp(`^${expected.prefix}`));
        expect(response.body["prefix"]).toMatch(new RegExp(`^${expected.prefix}`));
        expect(response.body["mode"]).toBe(expected.mode);
      }
    }
    const listedModes = (await listKeys(cookie)).map(({ mode, prefix }) => [
      mode,
      String(prefix).slice(0, 9),
    ]);
    expect(new Set(listedModes.map(String))).toEqual(new Set(["live,plk_live_", "test,plk_test_"]));
    const unknownMode = { name: "n", scopes, mode: "demo" };
    expect(summarizeResponse(await rig.call("POST", path, { cookie, body: unknownMode }))).toBe(
      "422 enum",
    );
  });

  test("creates no test key if the catalogue has no test network (rule MODE-4)", async () => {
    const liveCatalogue = loadCatalogue();
    const tokens = liveCatalogue.tokens.filter(({ chain }) => chain.isTestNetwork !== true);
    const liveRig = await createRig({ catalogue: { ...liveCatalogue, tokens } });
    try {
      const { cookie } = await liveRig.signUp();
      const body = { name: "n", scopes, mode: "test" };
      const response = await liveRig.call("POST", path, { cookie, body });
      expect(summarizeResponse(response)).toBe("409 TEST_MODE_UNAVAILABLE");
      const account = await liveRig.call("GET", "/console/api/account", { cookie });
      expect(account.body["testModeAvailable"]).toBe(false);
    } finally {
      await liveRig.close();
    }
  });

  test.each([
    ["an empty object", "422 missing missing", {}],
    ["no name", "422 missing", { scopes }],
    ["an empty name", "422 string_too_short", { name: "", scopes }],
    ["a name of 101 characters", "422 string_too_long", { name: "x".repeat(101), scopes }],
    ["NUL in the name", "422 string_pattern_mismatch", { name: "a\0", scopes }],
    ["no scope", "422 too_short", { name: "n", scopes: [] }],
    ["an unknown scope", "422 enum", { name: "n", scopes: ["payment_link:read", "admin"] }],
    ["two unknown scopes", "422 enum enum", { name: "n", scopes: ["foo", "bar"] }],
    ["a scope in another case", "422 enum", { name: "n", scopes: ["PAYMENT_LINK:READ"] }],
    ["a scope that is an object", "422 enum", { name: "n", scopes: [{}] }],
    ["scopes as a string", "422 list_type", { name: "n", scopes: "payment_link:read" }],
    ["scopes as null", "422 list_type", { name: "n", scopes: null }],
    ["a thousand scopes", "422 too_long", { name: "n", scopes: Array(1000).fill(scopes[0]) }],
    [
      "an expiry that is now",
      "422 datetime_future",
      { name: "n", scopes, expiresAt: "2026-11-21T10:00:00Z" },
    ],
    [
      "an invalid expiry",
      "422 datetime_from_date_parsing",
      { name: "n", scopes, expiresAt: "soon" },
    ],
    ["an expiry that is a number", "422 datetime_type", { name: "n", scopes, expiresAt: 1 }],
    [
      "an expiry beyond the year 9999",
      "422 datetime_from_date_parsing",
      { name: "n", scopes, expiresAt: "9999-12-31T23:59:59-10:00" },
    ],
  ])("given %s, responds %s and stores nothing", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await requestKey(cookie, body))).toBe(expected);
    expect(await listKeys(cookie)).toEqual([]);
  });
});

describe("GET /console/api/api-keys", () => {
  test("lists only the account's own keys, newest first", async () => {
    const { cookie } = await rig.signUp();
    const otherUser = await rig.signUp();
    const first = await createKey(cookie, { name: "first" });
    await createKey(otherUser.cookie);
    rig.clock.advance(1000);
    const second = await createKey(cookie, { name: "second" });
    expect((await listKeys(cookie)).map(({ id }) => id)).toEqual([second.id, first.id]);
  });
});

describe("PATCH /console/api/api-keys/{id}", () => {
  const patchKey = (cookie: string, id: string, body: unknown) =>
    rig.call("PATCH", `${path}/${id}`, { cookie, body });

  test("deactivates and reactivates a key", async () => {
    const { userId, cookie } = await rig.signUp();
    const { id, key } = await createKey(cookie);
    const deactivated = await patchKey(cookie, id, { active: false });
    expect([deactivated.status, deactivated.body["active"]]).toEqual([200, false]);
    expect(deactivated.body).not.toHaveProperty("key");
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    const activated = await patchKey(cookie, id, { active: true });
    expect([activated.status, activated.body["active"]]).toEqual([200, true]);
    expect(await rig.introspect("api-key", key)).toMatchObject({ found: true });
    await patchKey(cookie, id, { active: true });
    expect((await rig.readAudit(userId)).slice(-2)).toEqual([
      "api_key.deactivated",
      "api_key.activated",
    ]);
  });

  test("responds 404 for another account's key, which stays active", async () => {
    const owner = await rig.signUp();
    const otherUser = await rig.signUp();
    const { id, key } = await createKey(owner.cookie);
    const rejected = await patchKey(otherUser.cookie, id, { active: false });
    expect(summarizeResponse(rejected)).toBe("404 NOT_FOUND");
    expect(await rig.introspect("api-key", key)).toMatchObject({ found: true });
  });

  test.each([
    ["an empty object", "422 missing", {}],
    ["null", "422 bool_type", { active: null }],
    ["a string", "422 bool_type", { active: "false" }],
  ])("given %s, responds %s", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    const { id } = await createKey(cookie);
    expect(summarizeResponse(await patchKey(cookie, id, body))).toBe(expected);
  });
});

describe("DELETE /console/api/api-keys/{id}", () => {
  test("revokes a key permanently: it leaves the list and cannot be reactivated", async () => {
    const { userId, cookie } = await rig.signUp();
    const { id, key } = await createKey(cookie);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    expect(await listKeys(cookie)).toEqual([]);
    const reactivation = await rig.call("PATCH", `${path}/${id}`, {
      cookie,
      body: { active: true },
    });
    expect(summarizeResponse(reactivation)).toBe("404 NOT_FOUND");
    expect(summarizeResponse(await rig.call("DELETE", `${path}/${id}`, { cookie }))).toBe(
      "404 NOT_FOUND",
    );
    expect(await rig.readAudit(userId)).toContain("api_key.revoked");
  });
});

describe("lastUsedAt", () => {
  const getLastUsed = async (cookie: string) => (await listKeys(cookie))[0]?.["lastUsedAt"];

  test("is the time of the latest use, after one write for any number of calls (rule CALLER-1)", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    const usedAt = rig.clock.now().toISOString();
    for (let count = 0; count < 50; count += 1) await rig.introspect("api-key", key);
    expect(await getLastUsed(cookie)).toBeNull();
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toBe(usedAt);
  });

  test("never goes back, whichever replica writes last", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    rig.clock.advance(10_000);
    const latestUseAt = rig.clock.now().toISOString();
    await rig.introspect("api-key", key);
    await rig.flushLastUses();
    rig.clock.advance(-5_000);
    await rig.introspect("api-key", key);
    await rig.flushLastUses();
    rig.clock.advance(5_000);
    expect(await getLastUsed(cookie)).toBe(latestUseAt);
  });

  test("does not change for a call with an expired key", async () => {
    const { cookie } = await rig.signUp();
    const expiresAt = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const { key } = await createKey(cookie, { expiresAt });
    rig.clock.advance(1000);
    expect(await rig.introspect("api-key", key)).toMatchObject({
      found: true,
      credential: { expiresAt },
    });
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toBeNull();
  });
});

describe("lastUsedAddress", () => {
  const getLastUsed = async (cookie: string) => {
    const { lastUsedAt, lastUsedAddress } = (await listKeys(cookie))[0] ?? {};
    return [lastUsedAt, lastUsedAddress];
  };

  test("is the address of the latest use, whichever replica writes last (rule CALLER-1)", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    const introspectFrom = (address: string) => rig.introspect("api-key", key, address);
    rig.clock.advance(10_000);
    const latestUseAt = rig.clock.now().toISOString();
    await introspectFrom("2001:db8::7");
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toEqual([latestUseAt, "2001:db8::7"]);
    rig.clock.advance(-5_000);
    await introspectFrom("203.0.113.9");
    await rig.flushLastUses();
    rig.clock.advance(6_000);
    expect(await getLastUsed(cookie)).toEqual([latestUseAt, "2001:db8::7"]);
    await introspectFrom("203.0.113.9");
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toEqual([rig.clock.now().toISOString(), "203.0.113.9"]);
  });

  test("is null if the latest use does not report an address", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    await rig.introspect("api-key", key, "203.0.113.9");
    await rig.flushLastUses();
    rig.clock.advance(1_000);
    await rig.introspect("api-key", key);
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toEqual([rig.clock.now().toISOString(), null]);
  });

  test("appears in no log, metric or event", async () => {
    const { userId, cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    await rig.introspect("api-key", key, "203.0.113.77");
    await rig.flushLastUses();
    expect(await getLastUsed(cookie)).toContain("203.0.113.77");
    const exposedTexts = [rig.logLines, await rig.metrics.metrics(), await rig.readEvents(userId)];
    expect(JSON.stringify(exposedTexts)).not.toContain("203.0.113.77");
  });
});

describe("a key's allowed networks", () => {
  const createKeyWith = (cookie: string, cidrs: unknown) =>
    rig.call("POST", "/console/api/api-keys", {
      cookie,
      body: { name: "shop", scopes: ["payment_link:read"], cidrs },
    });

  test("are stored, returned by introspection and copied to the rotated key", async () => {
    const { cookie } = await rig.signUp();
    const cidrs = ["203.0.113.0/24", "2001:db8::1"];
    const { body } = await createKeyWith(cookie, cidrs);
    expect(body["cidrs"]).toEqual(cidrs);
    const rotated = await rig.call("POST", `/console/api/api-keys/${String(body["id"])}/rotate`, {
      cookie,
      body: {},
    });
    for (const key of [body["key"], rotated.body["key"]]) {
      const introspection = await rig.introspect("api-key", String(key));
      expect(introspection["credential"]).toMatchObject({ cidrs });
    }
  });

  test.each([
    ["an empty list", "422 too_short", []],
    ["21 entries", "422 too_long", Array(21).fill("10.0.0.0/8")],
    ["a host name", "422 string_pattern_mismatch", ["shop.example"]],
    ["a prefix of 33 bits", "422 string_pattern_mismatch", ["10.0.0.0/33"]],
    ["a number", "422 string_type", [10]],
  ])("given %s, responds %s", async (_name, expected, cidrs) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await createKeyWith(cookie, cidrs))).toBe(expected);
  });
});

describe("a key's own limit (rule API-25)", () => {
  const ownLimit = { requestsPerMinute: 60, burst: 5 };
  const createKeyWith = (cookie: string, limit: object, targetRig = rig) =>
    targetRig.call("POST", path, { cookie, body: { name: "shop", scopes, ...limit } });
  const patchKey = (cookie: string, id: unknown, body: object) =>
    rig.call("PATCH", `${path}/${String(id)}`, { cookie, body });
  const introspectCredential = async (key: unknown) =>
    (await rig.introspect("api-key", String(key)))["credential"];

  test("is listed, returned by introspection and copied to the rotated key", async () => {
    const { cookie } = await rig.signUp();
    const { body: first } = await createKeyWith(cookie, ownLimit);
    expect(first).toMatchObject(ownLimit);
    const { body: second } = await rig.call("POST", `${path}/${String(first["id"])}/rotate`, {
      cookie,
      body: {},
    });
    for (const key of [first["key"], second["key"]])
      expect(await introspectCredential(key)).toMatchObject(ownLimit);
    expect(await listKeys(cookie)).toEqual([
      expect.objectContaining(ownLimit),
      expect.objectContaining(ownLimit),
    ]);
  });

  test("is omitted from introspection if the key has none", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createKey(cookie);
    const introspection = await introspectCredential(key);
    expect(introspection).not.toHaveProperty("requestsPerMinute");
    expect(introspection).not.toHaveProperty("burst");
  });

  test("changes for all keys that share a bucket, and keeps fields that the request omits", async () => {
    const { userId, cookie } = await rig.signUp();
    const { body: first } = await createKeyWith(cookie, ownLimit);
    const rotatePath = `${path}/${String(first["id"])}/rotate`;
    const { body: second } = await rig.call("POST", rotatePath, { cookie, body: {} });
    const { key: otherKey } = await createKey(cookie);
    const changeResponse = await patchKey(cookie, second["id"], { burst: 3 });
    expect([changeResponse.status, changeResponse.body]).toMatchObject([
      200,
      { ...ownLimit, burst: 3 },
    ]);
    for (const key of [first["key"], second["key"]]) {
      expect(await introspectCredential(key)).toMatchObject({ ...ownLimit, burst: 3 });
    }
    expect(await introspectCredential(otherKey)).not.toHaveProperty("burst");
    await patchKey(cookie, second["id"], { burst: null, requestsPerMinute: null });
    expect(await introspectCredential(first["key"])).not.toHaveProperty("burst");
    await patchKey(cookie, second["id"], { burst: null });
    expect((await rig.readAudit(userId)).slice(-2)).toEqual(Array(2).fill("api_key.limited"));
  });

  test("needs presence to be raised, but never to be lowered", async () => {
    const { cookie } = await rig.signUp();
    const { body } = await createKeyWith(cookie, ownLimit);
    rig.clock.advance(10 * 60_000);
    const reauthenticationRequired = "401 REAUTHENTICATION_REQUIRED";
    for (const raisedLimit of [
      { burst: 6 },
      { burst: null },
      { requestsPerMinute: 61 },
      { requestsPerMinute: 30, burst: null },
    ]) {
      expect(summarizeResponse(await patchKey(cookie, body["id"], raisedLimit))).toBe(
        reauthenticationRequired,
      );
    }
    expect(await introspectCredential(body["key"])).toMatchObject(ownLimit);
    expect((await patchKey(cookie, body["id"], { burst: 4, active: false })).status).toBe(200);
    expect((await listKeys(cookie))[0]).toMatchObject({ active: false, burst: 4 });
  });

  test("is at most the installation's limit", async () => {
    const limitedRig = await createRig({ perKey: { tokensPerSecond: 2, burst: 10 } });
    try {
      const { cookie } = await limitedRig.signUp();
      const createWithLimit = (limit: object) => createKeyWith(cookie, limit, limitedRig);
      const { status, body } = await createWithLimit({ requestsPerMinute: 120, burst: 10 });
      expect(status).toBe(201);
      for (const excessiveLimit of [{ requestsPerMinute: 121 }, { burst: 11 }]) {
        expect(summarizeResponse(await createWithLimit(excessiveLimit))).toBe(
          "422 less_than_equal",
        );
        const patchOptions = { cookie, body: excessiveLimit };
        const changeResponse = await limitedRig.call(
          "PATCH",
          `${path}/${String(body["id"])}`,
          patchOptions,
        );
        expect(summarizeResponse(changeResponse)).toBe("422 less_than_equal");
      }
    } finally {
      await limitedRig.close();
    }
  });

  test.each([
    ["zero", "422 greater_than_equal", { burst: 0 }],
    ["a fraction", "422 int_from_float", { requestsPerMinute: 0.5 }],
    ["a list", "422 int_type", { burst: [] }],
  ])("given %s, responds %s", async (_name, expected, limit) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await createKeyWith(cookie, limit))).toBe(expected);
  });
});
