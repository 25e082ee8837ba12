import { describe, expect, test } from "@jest/globals";
import { isApiKey } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { apiKeysMax, replacedKeysMax } from "../domain/api-key.ts";
import { keepLastUses } from "../store/last-uses.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/console/api/api-keys";
const scopes = ["payment_link:create", "payment_link:read"];
const dayMs = 24 * 60 * 60 * 1000;

const rig = useRig(openRig);

type Made = { id: string; key: string };

const create = async (cookie: string, more: Record<string, unknown> = {}): Promise<Made> => {
  const body = { name: "shop", scopes, ...more };
  const answer = await rig.call("POST", path, { cookie, body });
  expect(answer.status).toBe(201);
  return { id: String(answer.body["id"]), key: String(answer.body["key"]) };
};

const rotate = (cookie: string, id: string, body: unknown = {}) =>
  rig.call("POST", `${path}/${id}/rotate`, { cookie, body });

const rotateOne = async (cookie: string, id: string, body: unknown = {}): Promise<Made> => {
  const answer = await rotate(cookie, id, body);
  expect(answer.status).toBe(201);
  return { id: String(answer.body["id"]), key: String(answer.body["key"]) };
};

const listed = async (cookie: string): Promise<Record<string, unknown>[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as Record<string, unknown>[];
};

const later = (ms: number): string => new Date(rig.clock.now().getTime() + ms).toISOString();

const credentialOf = async (key: string) => {
  const answer = await rig.introspect("api-key", key);
  return answer["credential"] as { bucketId: string; expiresAt: string } | undefined;
};
const bucketOf = async (key: string) => (await credentialOf(key))?.bucketId;
const endOf = async (key: string) => (await credentialOf(key))?.expiresAt;

describe("POST /console/api/api-keys/{id}/rotate (rule CALLER-5)", () => {
  test("shows a new key in the old one's place, in this one answer", async () => {
    const { cookie, userId } = await rig.signUp();
    const old = await create(cookie, { name: "till", scopes: ["payment_link:read"] });
    const answer = await rotate(cookie, old.id);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const { key, ...shown } = answer.body;
    expect(isApiKey(String(key))).toBe(true);
    expect(key).not.toBe(old.key);
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "till",
      prefix: String(key).slice(0, 13),
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
    expect(await listed(cookie)).toEqual([
      shown,
      expect.objectContaining({ id: old.id, replacedBy: shown["id"], expiresAt: later(dayMs) }),
    ]);
    expect(await rig.introspect("api-key", String(key))).toMatchObject({
      account: { id: userId },
      credential: { scopes: ["payment_link:read"], expiresAt: null },
    });
  });

  test("the old key works until the overlap ends, and is then gone from the list", async () => {
    const own = await openRig();
    try {
      const { cookie } = await own.signUp();
      const given = { cookie, body: { name: "shop", scopes } };
      const { body: old } = await own.call("POST", path, given);
      const oldPath = `${path}/${String(old["id"])}`;
      const body = { overlapSeconds: 60 };
      await own.call("POST", `${oldPath}/rotate`, { cookie, body });
      const uses = () => own.introspect("api-key", String(old["key"]));
      const end = "2026-11-21T10:01:00.000Z";
      own.clock.advance(59_999);
      // The asker judges the end by its own clock, to the millisecond.
      expect(await uses()).toMatchObject({ found: true, credential: { expiresAt: end } });
      own.clock.advance(1);
      expect(await uses()).toMatchObject({ found: true, credential: { expiresAt: end } });
      await own.keepUses();
      const { body: list } = await own.call("GET", path, { cookie });
      expect((list["data"] as { id: string }[]).map(({ id }) => id)).not.toContain(old["id"]);
      const revived = { cookie, body: { active: true } };
      expect(refusalOf(await own.call("PATCH", oldPath, revived))).toBe("404 NOT_FOUND");
    } finally {
      await own.close();
    }
  });

  test.each([
    ["no overlap ends the old key at once", { overlapSeconds: 0 }, 0],
    ["null is the default of a day", { overlapSeconds: null }, dayMs],
    ["a week is the longest", { overlapSeconds: 604_800 }, 7 * dayMs],
  ])("%s", async (_name, body, overlapMs) => {
    const { cookie } = await rig.signUp();
    const old = await create(cookie);
    await rotateOne(cookie, old.id, body);
    expect(await endOf(old.key)).toBe(later(overlapMs));
  });

  test("an expiry of its own that is nearer stands, and the new key lives as long", async () => {
    const { cookie } = await rig.signUp();
    const expiresAt = later(60_000);
    const old = await create(cookie, { expiresAt });
    const fresh = await rotateOne(cookie, old.id);
    expect(await endOf(old.key)).toBe(expiresAt);
    expect(await endOf(fresh.key)).toBe(expiresAt);
  });

  test("all keys of a chain share one rate bucket, also after the first is revoked", async () => {
    const { cookie } = await rig.signUp();
    const first = await create(cookie);
    const second = await rotateOne(cookie, first.id);
    const third = await rotateOne(cookie, second.id);
    const stranger = await create(cookie);
    const bucket = await bucketOf(first.key);
    expect(bucket).toBe(first.id);
    expect([await bucketOf(second.key), await bucketOf(third.key)]).toEqual([bucket, bucket]);
    expect(await bucketOf(stranger.key)).not.toBe(bucket);
    await rig.call("DELETE", `${path}/${first.id}`, { cookie });
    const fourth = await rotateOne(cookie, third.id);
    expect([await bucketOf(third.key), await bucketOf(fourth.key)]).toEqual([bucket, bucket]);
    expect(await rig.introspect("api-key", first.key)).toEqual({ found: false });
  });

  test("a key of the release before, which knew no buckets, is the first of its chain", async () => {
    const { cookie } = await rig.signUp();
    const old = await create(cookie);
    await rig.pool.query(nothing`UPDATE api_keys SET bucket_id = NULL WHERE id = ${old.id}`);
    expect(await bucketOf(old.key)).toBe(old.id);
    const fresh = await rotateOne(cookie, old.id);
    expect(await bucketOf(fresh.key)).toBe(old.id);
  });

  test("is written down, for the old key and for the new, without the key itself", async () => {
    const { cookie } = await rig.signUp();
    const old = await create(cookie);
    const fresh = await rotateOne(cookie, old.id, { overlapSeconds: 0 });
    const { text, body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    expect((body["data"] as unknown[]).slice(0, 2)).toMatchObject([
      {
        action: "api_key.rotated",
        targetId: old.id,
        detail: { replacedBy: fresh.id, expiresAt: later(0) },
      },
      {
        action: "api_key.created",
        targetId: fresh.id,
        detail: { name: "shop", scopes, expiresAt: null },
      },
    ]);
    expect(text).not.toContain("plk_live_");
  });
});

describe("a rotation that is refused (rule CALLER-5)", () => {
  const change = (cookie: string, id: string, body: unknown) =>
    rig.call("PATCH", `${path}/${id}`, { cookie, body });

  test("of a key that is switched off or has expired gives no new one", async () => {
    const { cookie } = await rig.signUp();
    const off = await create(cookie);
    await change(cookie, off.id, { active: false });
    expect(refusalOf(await rotate(cookie, off.id))).toBe("409 API_KEY_NOT_ACTIVE");
    const brief = await create(cookie, { expiresAt: later(1000) });
    rig.clock.advance(1000);
    expect(refusalOf(await rotate(cookie, brief.id))).toBe("409 API_KEY_NOT_ACTIVE");
    expect(await listed(cookie)).toHaveLength(2);
  });

  test("of a key that was rotated before, or ten times at once, leaves one successor", async () => {
    const { cookie } = await rig.signUp();
    const old = await create(cookie);
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(cookie, old.id)));
    expect(answers.map(refusalOf).toSorted()).toEqual([
      "201",
      ...Array(9).fill("409 API_KEY_REPLACED"),
    ]);
    expect(refusalOf(await rotate(cookie, old.id))).toBe("409 API_KEY_REPLACED");
    expect(await listed(cookie)).toHaveLength(2);
  });

  test("of a revoked, an unknown or another account's key answers 404 and changes nothing", async () => {
    const owner = await rig.signUp();
    const stranger = await rig.signUp();
    const key = await create(owner.cookie);
    const revoked = await create(owner.cookie);
    await rig.call("DELETE", `${path}/${revoked.id}`, { cookie: owner.cookie });
    const ids = [revoked.id, "key_00000000000000000000000000", "%00"];
    for (const id of ids) expect((await rotate(owner.cookie, id)).status).toBe(404);
    expect(refusalOf(await rotate(stranger.cookie, key.id))).toBe("404 NOT_FOUND");
    expect(await listed(owner.cookie)).toMatchObject([{ id: key.id, replacedBy: null }]);
    expect(await listed(stranger.cookie)).toEqual([]);
  });

  test.each([
    ["nothing at all", "422 missing", ""],
    ["a list", "422 model_attributes_type", "[]"],
    ["less than no overlap", "422 greater_than_equal", { overlapSeconds: -1 }],
    ["more than a week", "422 less_than_equal", { overlapSeconds: 604_801 }],
    ["half a second", "422 int_from_float", { overlapSeconds: 0.5 }],
    ["an overlap without end", "422 finite_number", '{"overlapSeconds":1e999}'],
    ["a word", "422 int_parsing", { overlapSeconds: "soon" }],
    ["a list as overlap", "422 int_type", { overlapSeconds: [60] }],
  ])("given %s, answers %s", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    const { id } = await create(cookie);
    expect(refusalOf(await rotate(cookie, id, body))).toBe(expected);
    expect(await listed(cookie)).toMatchObject([{ id, replacedBy: null, expiresAt: null }]);
  });
});

describe("the limit of keys", () => {
  test("leaves room to rotate every key; replaced ones have a limit, also when many come at once (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const keys: Made[] = [];
    for (let made = 0; made < apiKeysMax; made += 1) keys.push(await create(cookie));
    const [first, ...rest] = keys;
    const early = rest.slice(0, replacedKeysMax - 5);
    const fresh: Made[] = [];
    for (const { id } of early) fresh.push(await rotateOne(cookie, id));
    const answers = await Promise.all(fresh.slice(0, 10).map(({ id }) => rotate(cookie, id)));
    expect(answers.map(refusalOf).toSorted()).toEqual([
      ...Array(5).fill("201"),
      ...Array(5).fill("409 API_KEY_LIMIT"),
    ]);
    expect(await listed(cookie)).toHaveLength(apiKeysMax + replacedKeysMax);
    const body = { name: "more", scopes };
    expect(refusalOf(await rig.call("POST", path, { cookie, body }))).toBe("409 API_KEY_LIMIT");
    // Revoking a replaced key makes room to rotate another.
    expect(refusalOf(await rotate(cookie, first?.id ?? ""))).toBe("409 API_KEY_LIMIT");
    // A key that was found by others is replaced at once all the same.
    const found = rest.at(-1)?.id ?? "";
    expect(refusalOf(await rotate(cookie, found, { overlapSeconds: 0 }))).toBe("201");
    await rig.call("DELETE", `${path}/${early[0]?.id}`, { cookie });
    expect((await rotate(cookie, first?.id ?? "")).status).toBe(201);
  });

  test("does not count replaced keys that have ended", async () => {
    const own = await openRig();
    try {
      const { cookie } = await own.signUp();
      const made = await own.call("POST", path, { cookie, body: { name: "n", scopes } });
      let id = String(made.body["id"]);
      const body = { overlapSeconds: 0 };
      for (let turn = 0; turn <= replacedKeysMax; turn += 1) {
        const answer = await own.call("POST", `${path}/${id}/rotate`, { cookie, body });
        expect(refusalOf(answer)).toBe("201");
        id = String(answer.body["id"]);
      }
      const { body: list } = await own.call("GET", path, { cookie });
      expect(list["data"]).toMatchObject([{ id }]);
    } finally {
      await own.close();
    }
  });
});

describe("rotating while uses are being written down", () => {
  test("waits for neither: a chain's first key may be under that lock", async () => {
    const { cookie } = await rig.signUp();
    const first = await create(cookie);
    const second = await rotateOne(cookie, first.id);
    await rig.pool.transaction(async (tx) => {
      await keepLastUses(tx, "api-key", [{ id: first.id, at: rig.clock.now(), address: null }]);
      expect((await rotate(cookie, second.id)).status).toBe(201);
    });
  });
});
