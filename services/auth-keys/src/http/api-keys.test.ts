import { describe, expect, test } from "@jest/globals";
import { isApiKey } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { apiKeysMax } from "../domain/api-key.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/console/api/api-keys";
const scopes = ["payment_link:create", "payment_link:read"];

const rig = useRig(openRig);

const create = (cookie: string, body: unknown = { name: "shop", scopes }) =>
  rig.call("POST", path, { cookie, body });

const createOne = async (cookie: string, more: Record<string, unknown> = {}) => {
  const { status, body } = await create(cookie, { name: "shop", scopes, ...more });
  expect(status).toBe(201);
  return { id: String(body["id"]), key: String(body["key"]) };
};

const listed = async (cookie: string): Promise<Record<string, unknown>[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as Record<string, unknown>[];
};

describe("POST /console/api/api-keys", () => {
  test("shows the key in this one answer, and its start ever after (rule CALLER-2)", async () => {
    const { userId, cookie } = await rig.signUp();
    const answer = await create(cookie, {
      name: "shop",
      scopes: ["payment_link:read"],
      expiresAt: "2027-01-01T00:00:00+02:00",
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { key, ...shown } = answer.body;
    expect(isApiKey(String(key))).toBe(true);
    expect(String(key)).toMatch(/^plk_live_/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "shop",
      prefix: String(key).slice(0, 13),
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
    expect(await listed(cookie)).toEqual([shown]);
    expect(await rig.readAudit(userId)).toContain("api_key.created");
    // A key is no part of the account that other services hear of.
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("works at once, with exactly its scopes; doubled ones count once", async () => {
    const { userId, cookie } = await rig.signUp();
    const doubled = ["payment_link:read", "payment_link:read"];
    const { id, key } = await createOne(cookie, { scopes: doubled });
    expect(await rig.introspect("api-key", key)).toMatchObject({
      found: true,
      account: { id: userId },
      credential: { id, bucketId: id, scopes: ["payment_link:read"], expiresAt: null },
    });
  });

  test("an account has a bounded number of keys, and a revoked one makes room (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const { id } = await createOne(cookie);
    for (let count = 2; count <= apiKeysMax - 2; count += 1) await createOne(cookie);
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(cookie)));
    const outcomes = answers.map(refusalOf).toSorted();
    expect(outcomes).toEqual(["201", "201", ...Array(3).fill("409 API_KEY_LIMIT")]);
    expect(await listed(cookie)).toHaveLength(apiKeysMax);
    await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect((await create(cookie)).status).toBe(201);
  });

  test("the configuration says whether keys are live or for tests", async () => {
    const testing = await openRig({ apiKeyMode: "test" });
    try {
      const { cookie } = await testing.signUp();
      const body = { name: "n", scopes };
      const answer = await testing.call("POST", path, { cookie, body });
      expect(answer.body["key"]).toMatch(/^plk_test_/);
      expect(answer.body["prefix"]).toMatch(/^plk_test_/);
    } finally {
      await testing.close();
    }
  });

  test.each([
    ["nothing", "422 missing missing", {}],
    ["no name", "422 missing", { scopes }],
    ["an empty name", "422 string_too_short", { name: "", scopes }],
    ["a name of 101 characters", "422 string_too_long", { name: "x".repeat(101), scopes }],
    ["NUL in the name", "422 string_pattern_mismatch", { name: "a\0", scopes }],
    ["no scope", "422 too_short", { name: "n", scopes: [] }],
    ["an unknown scope", "422 enum", { name: "n", scopes: ["payment_link:read", "admin"] }],
    ["two unknown scopes", "422 enum enum", { name: "n", scopes: ["foo", "bar"] }],
    ["a scope in another case", "422 enum", { name: "n", scopes: ["PAYMENT_LINK:READ"] }],
    ["a scope that is an object", "422 enum", { name: "n", scopes: [{}] }],
    ["scopes as a word", "422 list_type", { name: "n", scopes: "payment_link:read" }],
    ["scopes as null", "422 list_type", { name: "n", scopes: null }],
    ["a thousand scopes", "422 too_long", { name: "n", scopes: Array(1000).fill(scopes[0]) }],
    [
      "an expiry that is now",
      "422 datetime_future",
      { name: "n", scopes, expiresAt: "2026-11-21T10:00:00Z" },
    ],
    [
      "an expiry that is no date",
      "422 datetime_from_date_parsing",
      { name: "n", scopes, expiresAt: "soon" },
    ],
    ["an expiry that is a number", "422 datetime_type", { name: "n", scopes, expiresAt: 1 }],
    [
      "an expiry beyond the year 9999",
      "422 datetime_from_date_parsing",
      { name: "n", scopes, expiresAt: "9999-12-31T23:59:59-10:00" },
    ],
  ])("given %s, answers %s and stores nothing", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    expect(refusalOf(await create(cookie, body))).toBe(expected);
    expect(await listed(cookie)).toEqual([]);
  });
});

describe("GET /console/api/api-keys", () => {
  test("lists the own keys alone, newest first", async () => {
    const { cookie } = await rig.signUp();
    const stranger = await rig.signUp();
    const first = await createOne(cookie, { name: "first" });
    await createOne(stranger.cookie);
    rig.clock.advance(1000);
    const second = await createOne(cookie, { name: "second" });
    expect((await listed(cookie)).map(({ id }) => id)).toEqual([second.id, first.id]);
  });
});

describe("PATCH /console/api/api-keys/{id}", () => {
  const change = (cookie: string, id: string, body: unknown) =>
    rig.call("PATCH", `${path}/${id}`, { cookie, body });

  test("switches a key off, and on again", async () => {
    const { userId, cookie } = await rig.signUp();
    const { id, key } = await createOne(cookie);
    const off = await change(cookie, id, { active: false });
    expect([off.status, off.body["active"]]).toEqual([200, false]);
    expect(off.body).not.toHaveProperty("key");
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    const on = await change(cookie, id, { active: true });
    expect([on.status, on.body["active"]]).toEqual([200, true]);
    expect(await rig.introspect("api-key", key)).toMatchObject({ found: true });
    await change(cookie, id, { active: true });
    expect((await rig.readAudit(userId)).slice(-2)).toEqual([
      "api_key.deactivated",
      "api_key.activated",
    ]);
  });

  test("another account's key answers 404 and stays active", async () => {
    const owner = await rig.signUp();
    const stranger = await rig.signUp();
    const { id, key } = await createOne(owner.cookie);
    const refused = await change(stranger.cookie, id, { active: false });
    expect(refusalOf(refused)).toBe("404 NOT_FOUND");
    expect(await rig.introspect("api-key", key)).toMatchObject({ found: true });
  });

  test.each([
    ["nothing", "422 missing", {}],
    ["null", "422 bool_type", { active: null }],
    ["a word", "422 bool_type", { active: "false" }],
  ])("given %s, answers %s", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    const { id } = await createOne(cookie);
    expect(refusalOf(await change(cookie, id, body))).toBe(expected);
  });
});

describe("DELETE /console/api/api-keys/{id}", () => {
  test("revokes for ever: it leaves the list and cannot be switched on again", async () => {
    const { userId, cookie } = await rig.signUp();
    const { id, key } = await createOne(cookie);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    expect(await listed(cookie)).toEqual([]);
    const revived = await rig.call("PATCH", `${path}/${id}`, { cookie, body: { active: true } });
    expect(refusalOf(revived)).toBe("404 NOT_FOUND");
    expect(refusalOf(await rig.call("DELETE", `${path}/${id}`, { cookie }))).toBe("404 NOT_FOUND");
    expect(await rig.readAudit(userId)).toContain("api_key.revoked");
  });

  test("another account's key answers 404 and lives on", async () => {
    const owner = await rig.signUp();
    const stranger = await rig.signUp();
    const { id, key } = await createOne(owner.cookie);
    const refused = await rig.call("DELETE", `${path}/${id}`, { cookie: stranger.cookie });
    expect(refusalOf(refused)).toBe("404 NOT_FOUND");
    expect(await rig.introspect("api-key", key)).toMatchObject({ found: true });
  });
});

describe("lastUsedAt", () => {
  const lastUsed = async (cookie: string) => (await listed(cookie))[0]?.["lastUsedAt"];

  test("is the latest use, after one write for however many calls (rule CALLER-1)", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    const usedAt = rig.clock.now().toISOString();
    for (let count = 0; count < 50; count += 1) await rig.introspect("api-key", key);
    expect(await lastUsed(cookie)).toBeNull();
    await rig.keepUses();
    expect(await lastUsed(cookie)).toBe(usedAt);
  });

  test("never goes back, whichever replica writes last", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    rig.clock.advance(10_000);
    const latest = rig.clock.now().toISOString();
    await rig.introspect("api-key", key);
    await rig.keepUses();
    rig.clock.advance(-5_000);
    await rig.introspect("api-key", key);
    await rig.keepUses();
    rig.clock.advance(5_000);
    expect(await lastUsed(cookie)).toBe(latest);
  });

  test("a call with an expired key is no use", async () => {
    const { cookie } = await rig.signUp();
    const expiresAt = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const { key } = await createOne(cookie, { expiresAt });
    rig.clock.advance(1000);
    expect(await rig.introspect("api-key", key)).toMatchObject({
      found: true,
      credential: { expiresAt },
    });
    await rig.keepUses();
    expect(await lastUsed(cookie)).toBeNull();
  });
});

describe("lastUsedAddress", () => {
  const lastUsed = async (cookie: string) => {
    const { lastUsedAt, lastUsedAddress } = (await listed(cookie))[0] ?? {};
    return [lastUsedAt, lastUsedAddress];
  };

  test("is that of the latest use, whichever replica writes last (rule CALLER-1)", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    const useFrom = (address: string) => rig.introspect("api-key", key, address);
    rig.clock.advance(10_000);
    const latest = rig.clock.now().toISOString();
    await useFrom("2001:db8::7");
    await rig.keepUses();
    expect(await lastUsed(cookie)).toEqual([latest, "2001:db8::7"]);
    rig.clock.advance(-5_000);
    await useFrom("203.0.113.9");
    await rig.keepUses();
    rig.clock.advance(6_000);
    expect(await lastUsed(cookie)).toEqual([latest, "2001:db8::7"]);
    await useFrom("203.0.113.9");
    await rig.keepUses();
    expect(await lastUsed(cookie)).toEqual([rig.clock.now().toISOString(), "203.0.113.9"]);
  });

  test("is none where the latest use does not tell one", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    await rig.introspect("api-key", key, "203.0.113.9");
    await rig.keepUses();
    rig.clock.advance(1_000);
    await rig.introspect("api-key", key);
    await rig.keepUses();
    expect(await lastUsed(cookie)).toEqual([rig.clock.now().toISOString(), null]);
  });

  test("is in no log, metric or event", async () => {
    const { userId, cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    await rig.introspect("api-key", key, "203.0.113.77");
    await rig.keepUses();
    expect(await lastUsed(cookie)).toContain("203.0.113.77");
    const told = [rig.logLines, await rig.metrics.metrics(), await rig.readEvents(userId)];
    expect(JSON.stringify(told)).not.toContain("203.0.113.77");
  });
});

describe("a key's addresses", () => {
  const make = (cookie: string, cidrs: unknown) =>
    rig.call("POST", "/console/api/api-keys", {
      cookie,
      body: { name: "shop", scopes: ["payment_link:read"], cidrs },
    });

  test("are kept, told to the services, and passed on to its successor", async () => {
    const { cookie } = await rig.signUp();
    const cidrs = ["203.0.113.0/24", "2001:db8::1"];
    const { body } = await make(cookie, cidrs);
    expect(body["cidrs"]).toEqual(cidrs);
    const rotated = await rig.call("POST", `/console/api/api-keys/${String(body["id"])}/rotate`, {
      cookie,
      body: {},
    });
    for (const key of [body["key"], rotated.body["key"]]) {
      const told = await rig.introspect("api-key", String(key));
      expect(told["credential"]).toMatchObject({ cidrs });
    }
  });

  test.each([
    ["none in a list", "422 too_short", []],
    ["21", "422 too_long", Array(21).fill("10.0.0.0/8")],
    ["a name", "422 string_pattern_mismatch", ["shop.example"]],
    ["33 bits", "422 string_pattern_mismatch", ["10.0.0.0/33"]],
    ["a number", "422 string_type", [10]],
  ])("given %s, answers %s", async (_name, expected, cidrs) => {
    const { cookie } = await rig.signUp();
    expect(refusalOf(await make(cookie, cidrs))).toBe(expected);
  });
});

describe("a key's own limit (rule API-25)", () => {
  const own = { requestsPerMinute: 60, burst: 5 };
  const make = (cookie: string, limit: object, on = rig) =>
    on.call("POST", path, { cookie, body: { name: "shop", scopes, ...limit } });
  const change = (cookie: string, id: unknown, body: object) =>
    rig.call("PATCH", `${path}/${String(id)}`, { cookie, body });
  const toldOf = async (key: unknown) =>
    (await rig.introspect("api-key", String(key)))["credential"];

  test("is shown, told to the services, and passed on to its successor", async () => {
    const { cookie } = await rig.signUp();
    const { body: first } = await make(cookie, own);
    expect(first).toMatchObject(own);
    const { body: second } = await rig.call("POST", `${path}/${String(first["id"])}/rotate`, {
      cookie,
      body: {},
    });
    for (const key of [first["key"], second["key"]]) expect(await toldOf(key)).toMatchObject(own);
    expect(await listed(cookie)).toEqual([
      expect.objectContaining(own),
      expect.objectContaining(own),
    ]);
  });

  test("is not told where there is none", async () => {
    const { cookie } = await rig.signUp();
    const { key } = await createOne(cookie);
    const told = await toldOf(key);
    expect(told).not.toHaveProperty("requestsPerMinute");
    expect(told).not.toHaveProperty("burst");
  });

  test("changes for all keys that share a bucket, field by field, and leaves what is not named", async () => {
    const { userId, cookie } = await rig.signUp();
    const { body: first } = await make(cookie, own);
    const rotate = `${path}/${String(first["id"])}/rotate`;
    const { body: second } = await rig.call("POST", rotate, { cookie, body: {} });
    const { key: other } = await createOne(cookie);
    const changed = await change(cookie, second["id"], { burst: 3 });
    expect([changed.status, changed.body]).toMatchObject([200, { ...own, burst: 3 }]);
    for (const key of [first["key"], second["key"]]) {
      expect(await toldOf(key)).toMatchObject({ ...own, burst: 3 });
    }
    expect(await toldOf(other)).not.toHaveProperty("burst");
    await change(cookie, second["id"], { burst: null, requestsPerMinute: null });
    expect(await toldOf(first["key"])).not.toHaveProperty("burst");
    await change(cookie, second["id"], { burst: null });
    expect((await rig.readAudit(userId)).slice(-2)).toEqual(Array(2).fill("api_key.limited"));
  });

  test("is loosened only by who proved to be there; tightening never waits for it", async () => {
    const { cookie } = await rig.signUp();
    const { body } = await make(cookie, own);
    rig.clock.advance(10 * 60_000);
    const stale = "401 REAUTHENTICATION_REQUIRED";
    for (const looser of [
      { burst: 6 },
      { burst: null },
      { requestsPerMinute: 61 },
      { requestsPerMinute: 30, burst: null },
    ]) {
      expect(refusalOf(await change(cookie, body["id"], looser))).toBe(stale);
    }
    expect(await toldOf(body["key"])).toMatchObject(own);
    expect((await change(cookie, body["id"], { burst: 4, active: false })).status).toBe(200);
    expect((await listed(cookie))[0]).toMatchObject({ active: false, burst: 4 });
  });

  test("is at most the installation's", async () => {
    const narrow = await openRig({ perKey: { tokensPerSecond: 2, burst: 10 } });
    try {
      const { cookie } = await narrow.signUp();
      const answer = (limit: object) => make(cookie, limit, narrow);
      const { status, body } = await answer({ requestsPerMinute: 120, burst: 10 });
      expect(status).toBe(201);
      for (const above of [{ requestsPerMinute: 121 }, { burst: 11 }]) {
        expect(refusalOf(await answer(above))).toBe("422 less_than_equal");
        const change = { cookie, body: above };
        const changed = await narrow.call("PATCH", `${path}/${String(body["id"])}`, change);
        expect(refusalOf(changed)).toBe("422 less_than_equal");
      }
    } finally {
      await narrow.close();
    }
  });

  test.each([
    ["nought", "422 greater_than_equal", { burst: 0 }],
    ["a half", "422 int_from_float", { requestsPerMinute: 0.5 }],
    ["a list", "422 int_type", { burst: [] }],
  ])("given %s, answers %s", async (_name, expected, limit) => {
    const { cookie } = await rig.signUp();
    expect(refusalOf(await make(cookie, limit))).toBe(expected);
  });

  test("of another account's key answers 404 and stays", async () => {
    const owner = await rig.signUp();
    const stranger = await rig.signUp();
    const { body } = await make(owner.cookie, own);
    expect(refusalOf(await change(stranger.cookie, body["id"], { burst: 1 }))).toBe(
      "404 NOT_FOUND",
    );
    expect(await toldOf(body["key"])).toMatchObject(own);
  });
});
