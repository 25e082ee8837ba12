import { describe, expect, test } from "@jest/globals";
import { isApiKey } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { apiKeysMax, replacedKeysMax } from "../domain/api-key.ts";
import { saveLastUses } from "../store/last-uses.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/api-keys";
const scopes = ["payment_link:create", "payment_link:read"];
const dayMs = 24 * 60 * 60 * 1000;

const rig = useRig(createRig);

type CreatedKey = { id: string; key: string };

const createKey = async (
  cookie: string,
  overrides: Record<string, unknown> = {},
): Promise<CreatedKey> => {
  const body = { name: "shop", scopes, ...overrides };
  const response = await rig.call("POST", path, { cookie, body });
  expect(response.status).toBe(201);
  return { id: String(response.body["id"]), key: String(response.body["key"]) };
};

const requestRotation = (cookie: string, id: string, body: unknown = {}) =>
  rig.call("POST", `${path}/${id}/rotate`, { cookie, body });

const rotateKey = async (cookie: string, id: string, body: unknown = {}): Promise<CreatedKey> => {
  const response = await requestRotation(cookie, id, body);
  expect(response.status).toBe(201);
  return { id: String(response.body["id"]), key: String(response.body["key"]) };
};

const listKeys = async (cookie: string): Promise<Record<string, unknown>[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as Record<string, unknown>[];
};

const toLaterIso = (ms: number): string => new Date(rig.clock.now().getTime() + ms).toISOString();

const introspectCredential = async (key: string) => {
  const response = await rig.introspect("api-key", key);
  return response["credential"] as { bucketId: string; expiresAt: string } | undefined;
};
const getBucketId = async (key: string) => (await introspectCredential(key))?.bucketId;
const getExpiry = async (key: string) => (await introspectCredential(key))?.expiresAt;

describe("POST /console/api/api-keys/{id}/rotate (rule CALLER-5)", () => {
  test("returns a new key that replaces the old one, with its secret only in this response", async () => {
    const { cookie, userId } = await rig.signUp();
    const oldKey = await createKey(cookie, { name: "till", scopes: ["payment_link:read"] });
    const response = await requestRotation(cookie, oldKey.id);
    expect([response.status, response.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const { key, ...keyData } = response.body;
    expect(isApiKey(String(key))).toBe(true);
    expect(key).not.toBe(oldKey.key);
    expect(keyData).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "till",
      prefix: String(key).slice(0, 13),
      mode: "live",
      scopes: ["payment_link:read"],
      expiresAt: null,
      active: true,
      replacedBy: null,
      cidrs: null,
      requestsPerMinute: null,
      burst: null,
      dateCreated: rig.clock.now().toISOString(),
      lastUsedAt: null,
      lastUsedAddress: null,
    });
    expect(await listKeys(cookie)).toEqual([
      keyData,
      expect.objectContaining({
        id: oldKey.id,
        replacedBy: keyData["id"],
        expiresAt: toLaterIso(dayMs),
      }),
    ]);
    expect(await rig.introspect("api-key", String(key))).toMatchObject({
      account: { id: userId },
      credential: { scopes: ["payment_link:read"], expiresAt: null },
    });
  });

  test("keeps the old key working until the overlap ends, and then removes it from the list", async () => {
    const ownRig = await createRig();
    try {
      const { cookie } = await ownRig.signUp();
      const callOptions = { cookie, body: { name: "shop", scopes } };
      const { body: oldKey } = await ownRig.call("POST", path, callOptions);
      const oldPath = `${path}/${String(oldKey["id"])}`;
      const body = { overlapSeconds: 60 };
      await ownRig.call("POST", `${oldPath}/rotate`, { cookie, body });
      const introspectOldKey = () => ownRig.introspect("api-key", String(oldKey["key"]));
      const expectedEnd = "2026-11-21T10:01:00.000Z";
      ownRig.clock.advance(59_999);
      // The requesting service evaluates the expiry by its own clock, to the millisecond.
      expect(await introspectOldKey()).toMatchObject({
        found: true,
        credential: { expiresAt: expectedEnd },
      });
      ownRig.clock.advance(1);
      expect(await introspectOldKey()).toMatchObject({
        found: true,
        credential: { expiresAt: expectedEnd },
      });
      await ownRig.flushLastUses();
      const { body: listBody } = await ownRig.call("GET", path, { cookie });
      expect((listBody["data"] as { id: string }[]).map(({ id }) => id)).not.toContain(
        oldKey["id"],
      );
      const reactivation = { cookie, body: { active: true } };
      expect(summarizeResponse(await ownRig.call("PATCH", oldPath, reactivation))).toBe(
        "404 NOT_FOUND",
      );
    } finally {
      await ownRig.close();
    }
  });

  test.each([
    ["ends the old key immediately without an overlap", { overlapSeconds: 0 }, 0],
    ["uses an overlap of one day for null", { overlapSeconds: null }, dayMs],
    ["accepts an overlap of up to one week", { overlapSeconds: 604_800 }, 7 * dayMs],
  ])("%s", async (_name, body, overlapMs) => {
    const { cookie } = await rig.signUp();
    const oldKey = await createKey(cookie);
    await rotateKey(cookie, oldKey.id, body);
    expect(await getExpiry(oldKey.key)).toBe(toLaterIso(overlapMs));
  });

  test("keeps an earlier expiry of the old key, and gives the new key the same lifetime", async () => {
    const { cookie } = await rig.signUp();
    const expiresAt = toLaterIso(60_000);
    const oldKey = await createKey(cookie, { expiresAt });
    const newKey = await rotateKey(cookie, oldKey.id);
    expect(await getExpiry(oldKey.key)).toBe(expiresAt);
    expect(await getExpiry(newKey.key)).toBe(expiresAt);
  });

  test("shares one rate-limit bucket among all keys of a chain, even after the first is revoked", async () => {
    const { cookie } = await rig.signUp();
    const firstKey = await createKey(cookie);
    const secondKey = await rotateKey(cookie, firstKey.id);
    const thirdKey = await rotateKey(cookie, secondKey.id);
    const otherKey = await createKey(cookie);
    const bucketId = await getBucketId(firstKey.key);
    expect(bucketId).toBe(firstKey.id);
    expect([await getBucketId(secondKey.key), await getBucketId(thirdKey.key)]).toEqual([
      bucketId,
      bucketId,
    ]);
    expect(await getBucketId(otherKey.key)).not.toBe(bucketId);
    await rig.call("DELETE", `${path}/${firstKey.id}`, { cookie });
    const fourthKey = await rotateKey(cookie, thirdKey.id);
    expect([await getBucketId(thirdKey.key), await getBucketId(fourthKey.key)]).toEqual([
      bucketId,
      bucketId,
    ]);
    expect(await rig.introspect("api-key", firstKey.key)).toEqual({ found: false });
  });

  test("treats a key without a stored bucket, as in earlier releases, as the first of its chain", async () => {
    const { cookie } = await rig.signUp();
    const oldKey = await createKey(cookie);
    await rig.pool.query(sqlVoid`UPDATE api_keys SET bucket_id = NULL WHERE id = ${oldKey.id}`);
    expect(await getBucketId(oldKey.key)).toBe(oldKey.id);
    const newKey = await rotateKey(cookie, oldKey.id);
    expect(await getBucketId(newKey.key)).toBe(oldKey.id);
  });

  test("is logged for the old and the new key, without the secret", async () => {
    const { cookie } = await rig.signUp();
    const oldKey = await createKey(cookie);
    const newKey = await rotateKey(cookie, oldKey.id, { overlapSeconds: 0 });
    const { text, body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    expect((body["data"] as unknown[]).slice(0, 2)).toMatchObject([
      {
        action: "api_key.rotated",
        targetId: oldKey.id,
        detail: { replacedBy: newKey.id, expiresAt: toLaterIso(0) },
      },
      {
        action: "api_key.created",
        targetId: newKey.id,
        detail: { name: "shop", scopes, expiresAt: null },
      },
    ]);
    expect(text).not.toContain("plk_live_");
  });
});

describe("a rejected rotation (rule CALLER-5)", () => {
  const patchKey = (cookie: string, id: string, body: unknown) =>
    rig.call("PATCH", `${path}/${id}`, { cookie, body });

  test("of an inactive or expired key creates no new key", async () => {
    const { cookie } = await rig.signUp();
    const inactiveKey = await createKey(cookie);
    await patchKey(cookie, inactiveKey.id, { active: false });
    expect(summarizeResponse(await requestRotation(cookie, inactiveKey.id))).toBe(
      "409 API_KEY_NOT_ACTIVE",
    );
    const expiredKey = await createKey(cookie, { expiresAt: toLaterIso(1000) });
    rig.clock.advance(1000);
    expect(summarizeResponse(await requestRotation(cookie, expiredKey.id))).toBe(
      "409 API_KEY_NOT_ACTIVE",
    );
    expect(await listKeys(cookie)).toHaveLength(2);
  });

  test("of an already rotated key fails, even for ten concurrent requests, so a key has one successor", async () => {
    const { cookie } = await rig.signUp();
    const oldKey = await createKey(cookie);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => requestRotation(cookie, oldKey.id)),
    );
    expect(responses.map(summarizeResponse).toSorted()).toEqual([
      "201",
      ...Array(9).fill("409 API_KEY_REPLACED"),
    ]);
    expect(summarizeResponse(await requestRotation(cookie, oldKey.id))).toBe(
      "409 API_KEY_REPLACED",
    );
    expect(await listKeys(cookie)).toHaveLength(2);
  });

  test("of a revoked, unknown or another account's key responds 404 without any change", async () => {
    const owner = await rig.signUp();
    const otherUser = await rig.signUp();
    const ownKey = await createKey(owner.cookie);
    const revokedKey = await createKey(owner.cookie);
    await rig.call("DELETE", `${path}/${revokedKey.id}`, { cookie: owner.cookie });
    const ids = [revokedKey.id, "key_00000000000000000000000000", "%00"];
    for (const id of ids) expect((await requestRotation(owner.cookie, id)).status).toBe(404);
    expect(summarizeResponse(await requestRotation(otherUser.cookie, ownKey.id))).toBe(
      "404 NOT_FOUND",
    );
    expect(await listKeys(owner.cookie)).toMatchObject([{ id: ownKey.id, replacedBy: null }]);
    expect(await listKeys(otherUser.cookie)).toEqual([]);
  });

  test.each([
    ["an empty body", "422 missing", ""],
    ["a list", "422 model_attributes_type", "[]"],
    ["a negative overlap", "422 greater_than_equal", { overlapSeconds: -1 }],
    ["an overlap of more than a week", "422 less_than_equal", { overlapSeconds: 604_801 }],
    ["half a second", "422 int_from_float", { overlapSeconds: 0.5 }],
    ["an infinite overlap", "422 finite_number", '{"overlapSeconds":1e999}'],
    ["a string", "422 int_parsing", { overlapSeconds: "soon" }],
    ["a list as overlap", "422 int_type", { overlapSeconds: [60] }],
  ])("given %s, responds %s", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    const { id } = await createKey(cookie);
    expect(summarizeResponse(await requestRotation(cookie, id, body))).toBe(expected);
    expect(await listKeys(cookie)).toMatchObject([{ id, replacedBy: null, expiresAt: null }]);
  });
});

describe("the limit of keys", () => {
  test("leaves room to rotate every key, and limits replaced keys, even for concurrent requests (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const keys: CreatedKey[] = [];
    for (let count = 0; count < apiKeysMax; count += 1) keys.push(await createKey(cookie));
    const [firstKey, ...remainingKeys] = keys;
    const rotatedEarly = remainingKeys.slice(0, replacedKeysMax - 5);
    const newKeys: CreatedKey[] = [];
    for (const { id } of rotatedEarly) newKeys.push(await rotateKey(cookie, id));
    const responses = await Promise.all(
      newKeys.slice(0, 10).map(({ id }) => requestRotation(cookie, id)),
    );
    expect(responses.map(summarizeResponse).toSorted()).toEqual([
      ...Array(5).fill("201"),
      ...Array(5).fill("409 API_KEY_LIMIT"),
    ]);
    expect(await listKeys(cookie)).toHaveLength(apiKeysMax + replacedKeysMax);
    const body = { name: "more", scopes };
    expect(summarizeResponse(await rig.call("POST", path, { cookie, body }))).toBe(
      "409 API_KEY_LIMIT",
    );
    // Revoking a replaced key frees room for another rotation.
    expect(summarizeResponse(await requestRotation(cookie, firstKey?.id ?? ""))).toBe(
      "409 API_KEY_LIMIT",
    );
    // A leaked key can still be replaced immediately, without an overlap.
    const lastKeyId = remainingKeys.at(-1)?.id ?? "";
    expect(summarizeResponse(await requestRotation(cookie, lastKeyId, { overlapSeconds: 0 }))).toBe(
      "201",
    );
    await rig.call("DELETE", `${path}/${rotatedEarly[0]?.id}`, { cookie });
    expect((await requestRotation(cookie, firstKey?.id ?? "")).status).toBe(201);
  });

  test("does not count expired replaced keys", async () => {
    const ownRig = await createRig();
    try {
      const { cookie } = await ownRig.signUp();
      const createResponse = await ownRig.call("POST", path, {
        cookie,
        body: { name: "n", scopes },
      });
      let id = String(createResponse.body["id"]);
      const body = { overlapSeconds: 0 };
      for (let count = 0; count <= replacedKeysMax; count += 1) {
        const response = await ownRig.call("POST", `${path}/${id}/rotate`, { cookie, body });
        expect(summarizeResponse(response)).toBe("201");
        id = String(response.body["id"]);
      }
      const { body: listBody } = await ownRig.call("GET", path, { cookie });
      expect(listBody["data"]).toMatchObject([{ id }]);
    } finally {
      await ownRig.close();
    }
  });
});

describe("a rotation while last uses are written", () => {
  test("does not wait for the lock on the first key of its chain", async () => {
    const { cookie } = await rig.signUp();
    const firstKey = await createKey(cookie);
    const secondKey = await rotateKey(cookie, firstKey.id);
    await rig.pool.transaction(async (tx) => {
      await saveLastUses(tx, "api-key", [{ id: firstKey.id, at: rig.clock.now(), address: null }]);
      expect((await requestRotation(cookie, secondKey.id)).status).toBe(201);
    });
  });
});
