import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";

const path = "/console/api/audit-log";
const Id = z.object({ id: z.string() });
const svm = "DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy";

const rig = useRig(openRig);

type Shown = { id: string; action: string; targetId: string | null };

const read = (cookie: string, query = "") => rig.call("GET", `${path}${query}`, { cookie });

const dataOf = async (cookie: string, query = ""): Promise<Shown[]> =>
  (await read(cookie, query)).body["data"] as Shown[];

const rename = (cookie: string, bio: string) =>
  rig.call("PATCH", "/console/api/account", { cookie, body: { bio } });

describe("GET /console/api/audit-log", () => {
  test("tells every deed on the account, its wallets and keys, newest first", async () => {
    const { cookie } = await rig.signUp({ handle: "audited" });
    const post = async (to: string, body: unknown) =>
      String((await rig.call("POST", `/console/api/${to}`, { cookie, body })).body["id"]);
    const patch = (to: string, body: unknown) =>
      rig.call("PATCH", `/console/api/${to}`, { cookie, body });
    const remove = (what: string) => rig.call("DELETE", `/console/api/${what}`, { cookie });

    await patch("account", { handle: "audited_2", bio: "b" });
    const wallet = await post("wallets", { walletAddress: svm, tokenId: "usdc-solana" });
    await patch(`wallets/${wallet}`, { isDefault: false });
    await remove(`wallets/${wallet}`);
    const key = await post("api-keys", { name: "shop", scopes: ["payment_link:read"] });
    await patch(`api-keys/${key}`, { active: false });
    await patch(`api-keys/${key}`, { active: true });
    const next = await post(`api-keys/${key}/rotate`, {});
    await remove(`api-keys/${key}`);

    const told = [...(await dataOf(cookie)), ...(await dataOf(cookie, "?offset=10"))];
    expect(told.map(({ action, targetId }) => [action, targetId])).toEqual([
      ["api_key.revoked", key],
      ["api_key.rotated", key],
      ["api_key.created", next],
      ["api_key.activated", key],
      ["api_key.deactivated", key],
      ["api_key.created", key],
      ["wallet.deleted", wallet],
      ["wallet.changed", wallet],
      ["wallet.added", wallet],
      ["account.changed", null],
      ["session.started", expect.stringMatching(/^sess_/)],
      ["sign_in_link.made", null],
      ["account.created", null],
    ]);
  });

  test("tells who, what and when, under an id of its own, and no secret", async () => {
    const { userId, token } = await rig.makeAccount({ handle: "told" });
    const cookie = await rig.signIn(token);
    const body = { name: "shop", scopes: ["payment_link:read"] };
    const created = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const { text, body: page } = await read(cookie);
    const sessionId = expect.stringMatching(/^sess_/);
    expect(page).toEqual({
      data: [
        {
          id: expect.stringMatching(/^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
          action: "api_key.created",
          actor: { kind: "session", id: sessionId },
          method: "link",
          targetId: created.body["id"],
          detail: {
            name: "shop",
            scopes: ["payment_link:read"],
            cidrs: null,
            requestsPerMinute: null,
            burst: null,
            expiresAt: null,
          },
          address: expect.stringMatching(/127\.0\.0\.1$/),
          userAgent: "node",
          dateCreated: rig.clock.now().toISOString(),
        },
        expect.objectContaining({
          action: "session.started",
          actor: { kind: "session", id: sessionId },
        }),
        expect.objectContaining({
          action: "sign_in_link.made",
          actor: { kind: "operator", id: null },
        }),
        expect.objectContaining({ action: "account.created", detail: expect.anything() }),
      ],
      limit: 10,
      offset: 0,
      nextOffset: null,
    });
    const secrets = [String(created.body["key"]), token, cookie.slice("session=".length), userId];
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test("pages by ten: each entry once, under an id that no other has, until nothing follows", async () => {
    const { cookie } = await rig.signUp();
    // With the account, its link and the session: exactly two pages.
    for (let count = 1; count <= 17; count += 1) await rename(cookie, `bio ${count}`);
    const first = (await read(cookie)).body;
    expect([first["limit"], first["nextOffset"]]).toEqual([10, 10]);
    const second = (await read(cookie, "?offset=10")).body;
    expect(second["nextOffset"]).toBeNull();
    const ids = [first, second].flatMap(({ data }) => (data as Shown[]).map(({ id }) => id));
    expect(new Set(ids).size).toBe(20);
    const end = (await read(cookie, "?offset=20")).body;
    expect(end).toEqual({ data: [], limit: 10, offset: 20, nextOffset: null });
  });

  test("ids are UUIDs of version 7, which begin with the time", async () => {
    const { userId } = await rig.signUp();
    const ids = await rig.pool.anyFirst(sql.type(Id)`
      SELECT id FROM audit_log WHERE account_id = ${userId}
    `);
    expect(ids).toHaveLength(3);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const madeAtMs = Number.parseInt(id.slice(0, 13).replace("-", ""), 16);
      expect(Math.abs(Date.now() - madeAtMs)).toBeLessThan(60_000);
    }
  });

  test("shows the own account's deeds alone", async () => {
    const one = await rig.signUp();
    const other = await rig.signUp();
    await rename(other.cookie, "of the other");
    expect((await dataOf(one.cookie)).map(({ action }) => action)).toEqual([
      "session.started",
      "sign_in_link.made",
      "account.created",
    ]);
  });

  test("what is refused is not told: nothing was done", async () => {
    const { cookie } = await rig.signUp();
    await rename(cookie, "x".repeat(501));
    await rig.call("POST", "/console/api/api-keys", { cookie, body: { name: "n", scopes: [] } });
    await rig.call("DELETE", "/console/api/wallets/wallet_1", { cookie });
    expect(await dataOf(cookie)).toHaveLength(3);
  });

  test.each([
    ["-1", "422 greater_than_equal"],
    ["2147483648", "422 less_than_equal"],
    ["ten", "422 int_parsing"],
    ["1.5", "422 int_parsing"],
  ])("given the offset %s, answers %s", async (offset, expected) => {
    const { cookie } = await rig.signUp();
    expect(refusalOf(await read(cookie, `?offset=${offset}`))).toBe(expected);
  });

  test("nobody rewrites it: not even the role of the service itself", async () => {
    const { cookie } = await rig.signUp();
    const before = await dataOf(cookie);
    const attempts = [
      [nothing`UPDATE audit_log SET action = 'nothing'`, "append-only"],
      [nothing`DELETE FROM audit_log`, "append-only"],
      [nothing`TRUNCATE audit_log`, "permission denied"],
    ] as const;
    for (const [attempt, reason] of attempts) {
      await expect(rig.pool.query(attempt)).rejects.toThrow(reason);
    }
    expect(await dataOf(cookie)).toEqual(before);
  });
});

describe("an entry tells from where it was done", () => {
  const Origin = z.object({
    action: z.string(),
    actorKind: z.string(),
    operator: z.string().nullable(),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  });
  const originsOf = (userId: string) =>
    rig.pool.any(sql.type(Origin)`
      SELECT action, actor_kind AS "actorKind", operator, address, user_agent AS "userAgent"
      FROM audit_log WHERE account_id = ${userId} ORDER BY seq
    `);
  const here = expect.stringMatching(/127\.0\.0\.1$/);

  test("address and browser of a person, name of an operator; the owner sees the person's alone", async () => {
    const { userId, token } = await rig.makeAccount();
    const headers = { "user-agent": `Browser/1.0 ${"x".repeat(1000)}` };
    const cookie = await rig.signIn(token, { headers });
    await rig.call("PATCH", "/console/api/account", { cookie, headers, body: { bio: "b" } });
    const body = { userId, reason: "asked for" };
    const operator = { operator: "ada@example.com" };
    await rig.call("POST", "/internal/accounts/suspend", { body, headers: operator });
    await rig.call("POST", "/internal/accounts/resume", { body });

    const person = { actorKind: "session", operator: null, address: here };
    const userAgent = headers["user-agent"].slice(0, 300);
    expect(await originsOf(userId)).toMatchObject([
      { action: "account.created", actorKind: "operator", operator: null },
      { action: "sign_in_link.made", actorKind: "operator" },
      { action: "session.started", ...person, userAgent },
      { action: "account.changed", ...person, userAgent },
      { action: "account.suspended", actorKind: "operator", operator: operator.operator },
      { action: "account.resumed", actorKind: "operator", operator: null },
    ]);

    const again = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const fresh = await rig.signIn(tokenOf(again.body["signInUrl"]));
    const { text, body: page } = await read(fresh);
    const shown = page["data"] as { action: string; address: string | null }[];
    expect(shown.find(({ action }) => action === "account.changed")).toMatchObject({
      address: here,
      userAgent,
    });
    const byOperator = shown.find(({ action }) => action === "account.suspended");
    expect(byOperator).toMatchObject({ address: null, userAgent: null });
    expect(text).not.toContain(operator.operator);
  });

  test("a sign-in that a suspension refuses is told, with its way", async () => {
    const { userId } = await rig.signUp();
    await rig.call("POST", "/internal/accounts/suspend", { body: { userId } });
    const link = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const body = { token: tokenOf(link.body["signInUrl"]) };
    const refused = await rig.call("POST", "/console/api/session", { body });
    expect(refusalOf(refused)).toBe("403 ACCOUNT_SUSPENDED");
    expect((await originsOf(userId)).at(-1)).toMatchObject({
      action: "session.refused",
      actorKind: "visitor",
      address: here,
    });
  });
});
