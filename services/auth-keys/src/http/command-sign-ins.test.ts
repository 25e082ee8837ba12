import { describe, expect, test } from "@jest/globals";
import { isApiKey, loadCatalogue } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { sql } from "slonik";
import * as z from "zod";
import { apiKeysMax } from "../domain/api-key.ts";
import { parseUserCode } from "../domain/command-sign-in.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const rig = useRig(createRig);

const consolePath = "/console/api/api-keys/sign-ins";
const scopes = ["payment_link:read"];

type Codes = { deviceCode: string; userCode: string };

const start = async (deviceName = "laptop"): Promise<Codes> => {
  const { status, body } = await rig.call("POST", "/command/sign-ins", { body: { deviceName } });
  expect(status).toBe(201);
  return { deviceCode: String(body["deviceCode"]), userCode: String(body["userCode"]) };
};

const poll = (deviceCode: string) =>
  rig.call("POST", "/command/sign-ins/poll", { body: { deviceCode } });

const allow = (cookie: string, userCode: string, body: unknown = { scopes }) =>
  rig.call("POST", `${consolePath}/${userCode}/allow`, { cookie, body });

const deny = (cookie: string, userCode: string) =>
  rig.call("POST", `${consolePath}/${userCode}/deny`, { cookie });

const countRows = () =>
  rig.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
    SELECT count(*)::int AS count FROM command_sign_ins
  `);

const tenMinutesMs = 10 * 60_000;

describe("the sign-in of a command line", () => {
  test("returns a key with the chosen scopes exactly once, even to concurrent polls (rule CALLER-47)", async () => {
    const { userId, cookie } = await rig.signUp();
    const { deviceCode, userCode } = await start("alices-laptop");
    const pending = { status: "pending", key: null, mode: null, scopes: null };
    expect((await poll(deviceCode)).body).toEqual(pending);
    const shown = await rig.call("GET", `${consolePath}/${userCode.toLowerCase()}`, { cookie });
    expect(shown.body).toEqual({
      deviceName: "alices-laptop",
      mode: "live",
      address: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/),
      dateCreated: rig.clock.now().toISOString(),
      expiresAt: new Date(rig.clock.now().getTime() + tenMinutesMs).toISOString(),
    });
    expect((await allow(cookie, userCode)).status).toBe(204);
    const responses = await Promise.all(Array.from({ length: 5 }, () => poll(deviceCode)));
    const [allowed, ...others] = responses.toSorted((a, b) => a.status - b.status);
    expect(allowed?.body).toEqual({
      status: "allowed",
      key: expect.any(String),
      mode: "live",
      scopes,
    });
    expect(others.map(summarizeResponse)).toEqual(Array(4).fill("404 NOT_FOUND"));
    const key = String(allowed?.body["key"]);
    expect(isApiKey(key)).toBe(true);
    expect(await rig.introspect("api-key", key)).toMatchObject({
      found: true,
      account: { id: userId },
      credential: { scopes },
    });
    const { body } = await rig.call("GET", "/console/api/api-keys", { cookie });
    expect(body["data"]).toMatchObject([{ name: "alices-laptop", scopes }]);
    const actions = await rig.readAudit(userId);
    expect(actions).toEqual(expect.arrayContaining(["command_sign_in.allowed", "api_key.created"]));
    expect(await countRows()).toBe(0);
  });

  test("returns a key of the mode that the command asked for (rule MODE-2)", async () => {
    const { cookie } = await rig.signUp();
    const startInMode = async (mode?: "live" | "test") =>
      (await rig.call("POST", "/command/sign-ins", { body: { deviceName: "laptop", mode } })).body;
    const live = await startInMode();
    const test = await startInMode("test");
    expect(live["verificationUrl"]).toMatch(/\/console\/command$/);
    expect(test["verificationUrl"]).toMatch(/\/console\/test\/command$/);
    await allow(cookie, String(live["userCode"]));
    const shown = await rig.call("GET", `${consolePath}/${String(test["userCode"])}`, { cookie });
    expect(shown.body["mode"]).toBe("test");
    // The console page has no influence on the mode.
    await allow(cookie, String(test["userCode"]), { scopes, mode: "live" });
    for (const [{ deviceCode }, mode, prefix] of [
      [live, "live", "plk_live_"],
      [test, "test", "plk_test_"],
    ] as const) {
      const { body } = await poll(String(deviceCode));
      expect(body["mode"]).toBe(mode);
      expect(String(body["key"]).slice(0, prefix.length)).toBe(prefix);
    }
    const { body } = await rig.call("GET", "/console/api/api-keys", { cookie });
    expect(body["data"]).toMatchObject([{ mode: "test" }, { mode: "live" }]);
  });

  test("does not start in test mode if the catalogue has no test network (rule MODE-4)", async () => {
    const liveCatalogue = loadCatalogue();
    const tokens = liveCatalogue.tokens.filter(({ chain }) => chain.isTestNetwork !== true);
    const liveRig = await createRig({ catalogue: { ...liveCatalogue, tokens } });
    try {
      const startInMode = (mode: "live" | "test") =>
        liveRig.call("POST", "/command/sign-ins", { body: { deviceName: "laptop", mode } });
      expect(summarizeResponse(await startInMode("test"))).toBe("409 TEST_MODE_UNAVAILABLE");
      expect((await startInMode("live")).status).toBe(201);
    } finally {
      await liveRig.close();
    }
  });

  test("is denied once, and can then not be allowed (rule CALLER-47)", async () => {
    const { userId, cookie } = await rig.signUp();
    const { deviceCode, userCode } = await start();
    expect((await deny(cookie, userCode)).status).toBe(204);
    expect(summarizeResponse(await allow(cookie, userCode))).toBe("404 NOT_FOUND");
    expect(summarizeResponse(await deny(cookie, userCode))).toBe("404 NOT_FOUND");
    expect((await poll(deviceCode)).body).toEqual({
      status: "denied",
      key: null,
      mode: null,
      scopes: null,
    });
    expect(summarizeResponse(await poll(deviceCode))).toBe("404 NOT_FOUND");
    expect(await rig.readAudit(userId)).toContain("command_sign_in.denied");
  });

  test("can be allowed by only one account (rule CALLER-47)", async () => {
    const [first, second] = [await rig.signUp(), await rig.signUp()];
    const { deviceCode, userCode } = await start();
    const results = await Promise.all([
      allow(first.cookie, userCode),
      allow(second.cookie, userCode),
    ]);
    expect(results.map(summarizeResponse).toSorted()).toEqual(["204", "404 NOT_FOUND"]);
    expect((await poll(deviceCode)).body["status"]).toBe("allowed");
  });

  test("ends after 10 minutes, even if it was allowed, and leaves no row (rule CALLER-47)", async () => {
    const { cookie } = await rig.signUp();
    const [pending, allowed] = [await start(), await start()];
    await allow(cookie, allowed.userCode);
    rig.clock.advance(tenMinutesMs);
    for (const { deviceCode, userCode } of [pending, allowed]) {
      expect(summarizeResponse(await poll(deviceCode))).toBe("404 NOT_FOUND");
      expect(summarizeResponse(await allow(cookie, userCode))).toBe(
        "401 REAUTHENTICATION_REQUIRED",
      );
      expect(summarizeResponse(await deny(cookie, userCode))).toBe("404 NOT_FOUND");
    }
    await rig.service.start();
    await waitUntil("the rows are deleted", async () => (await countRows()) === 0);
  });

  test("ends when an operator revokes the account's credentials (rule CALLER-17)", async () => {
    const { userId, cookie } = await rig.signUp();
    const { deviceCode, userCode } = await start();
    await allow(cookie, userCode);
    const body = { userId };
    await rig.call("POST", "/internal/accounts/revoke-everything", { body });
    expect(summarizeResponse(await poll(deviceCode))).toBe("404 NOT_FOUND");
  });

  test("ends when an operator suspends the account, even if it is resumed (rule CALLER-17)", async () => {
    const { userId, cookie } = await rig.signUp();
    const { deviceCode, userCode } = await start();
    expect((await allow(cookie, userCode)).status).toBe(204);
    const body = { userId };
    await rig.call("POST", "/internal/accounts/suspend", { body });
    await rig.call("POST", "/internal/accounts/resume", { body });
    expect(summarizeResponse(await poll(deviceCode))).toBe("404 NOT_FOUND");
    expect(await countRows()).toBe(0);
  });

  test("respects the limit of keys when it is allowed and when the key is created (rule CALLER-47)", async () => {
    const { cookie } = await rig.signUp();
    const [first, second] = [await start(), await start()];
    const createKey = () =>
      rig.call("POST", "/console/api/api-keys", { cookie, body: { name: "shop", scopes } });
    for (let count = 1; count < apiKeysMax; count += 1) await createKey();
    expect((await allow(cookie, first.userCode)).status).toBe(204);
    expect((await createKey()).status).toBe(201);
    expect(summarizeResponse(await poll(first.deviceCode))).toBe("409 API_KEY_LIMIT");
    expect(summarizeResponse(await allow(cookie, second.userCode))).toBe("409 API_KEY_LIMIT");
  });

  test("stores neither a code nor the key (rule CALLER-47)", async () => {
    const { cookie } = await rig.signUp();
    const { deviceCode, userCode } = await start();
    await allow(cookie, userCode);
    const rows = await rig.pool.oneFirst(sql.type(z.object({ text: z.string() }))`
      SELECT json_agg(command_sign_ins)::text AS text FROM command_sign_ins
    `);
    for (const secret of [deviceCode, userCode]) {
      expect(rows).not.toContain(secret);
      expect(rows).not.toContain(Buffer.from(secret).toString("hex"));
    }
    expect(rows).not.toContain("plk_");
  });

  test("limits how many can start and how many codes can be tried (rule CALLER-47)", async () => {
    const limitedRig = await createRig();
    try {
      const { cookie } = await limitedRig.signUp();
      const countUntilLimit = async (send: () => Promise<{ status: number }>): Promise<number> => {
        for (let count = 0; count < 100; count += 1)
          if ((await send()).status === 429) return count;
        return Infinity;
      };
      const body = { deviceName: "laptop" };
      const startOnce = () => limitedRig.call("POST", "/command/sign-ins", { body });
      expect(await countUntilLimit(startOnce)).toBe(20);
      const tryCode = () => limitedRig.call("GET", `${consolePath}/BCDF-BCDF`, { cookie });
      expect(await countUntilLimit(tryCode)).toBe(60);
      const other = await limitedRig.signUp();
      // The address has used up its tries, regardless of the account.
      const otherTry = { cookie: other.cookie };
      expect(
        (await limitedRig.call("POST", `${consolePath}/BCDF-BCDF/deny`, otherTry)).status,
      ).toBe(429);
    } finally {
      await limitedRig.close();
    }
  });

  test.each([
    ["wdjb-mjht", "WDJB-MJHT"],
    [" WDJB MJHT ", "WDJB-MJHT"],
    ["WDJBMJHT", "WDJB-MJHT"],
    ["WDJB-MJH", undefined],
    ["WDJB-MJHTT", undefined],
    ["WDJB-MJHA", undefined],
    ["", undefined],
  ])("reads the code %j as %s", (text, code) => {
    expect(parseUserCode(text)).toBe(code);
  });
});
