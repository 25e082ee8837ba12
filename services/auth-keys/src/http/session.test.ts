import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { hashSecret } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sessionIdleMs, sessionLifetimeMs, sessionsMax } from "../domain/session.ts";
import {
  type Rig,
  getCookies,
  createRig,
  summarizeResponse,
  parseToken,
} from "../testing/create-rig.ts";

const path = "/console/api/session";
const minuteMs = 60_000;

const rig = useRig(createRig);

describe("POST /console/api/session", () => {
  test("responds with the token's account and starts a session with a cookie", async () => {
    const { userId, token } = await rig.createAccount({ handle: "signer", username: "Sig Ner" });
    const response = await rig.call("POST", path, { body: { token } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      id: userId,
      handle: "signer",
      username: "Sig Ner",
      bio: null,
      profileImage: null,
      backgroundImage: null,
      backgroundColour: null,
      links: null,
      returnUrl: null,
      dateCreated: "2026-11-21T10:00:00.000Z",
      isReady: false,
      isTestReady: false,
      testModeAvailable: true,
    });
    const [line] = response.headers.getSetCookie();
    expect(line).toMatch(
      /^session=[\w-]{43}; Max-Age=43200; Path=\/console\/api\/session; HttpOnly; SameSite=Lax$/,
    );
    const cookie = getCookies(response.headers);
    expect((await rig.call("GET", path, { cookie })).body).toEqual(response.body);
    expect(await rig.readAudit(userId)).toEqual([
      "account.created",
      "sign_in_link.made",
      "session.started",
    ]);
  });

  test("rejects a token that was already used (rule CALLER-10)", async () => {
    const { token } = await rig.createAccount();
    await rig.signIn(token);
    const secondResponse = await rig.call("POST", path, { body: { token } });
    expect(summarizeResponse(secondResponse)).toBe("401 INVALID_SIGN_IN_TOKEN");
    expect(secondResponse.headers.get("set-cookie")).toBeNull();
  });

  test("starts exactly one session for ten concurrent requests with one token", async () => {
    const { userId, token } = await rig.createAccount();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => rig.call("POST", path, { body: { token } })),
    );
    expect(responses.map(summarizeResponse).toSorted()).toEqual([
      "200",
      ...Array(9).fill("401 INVALID_SIGN_IN_TOKEN"),
    ]);
    const actions = await rig.readAudit(userId);
    expect(actions.filter((action) => action === "session.started")).toHaveLength(1);
  });

  test("accepts a token for less than 15 minutes (rule CALLER-10)", async () => {
    const timelyAccount = await rig.createAccount();
    const lateAccount = await rig.createAccount();
    rig.clock.advance(15 * minuteMs - 1);
    expect((await rig.call("POST", path, { body: { token: timelyAccount.token } })).status).toBe(
      200,
    );
    rig.clock.advance(1);
    const rejected = await rig.call("POST", path, { body: { token: lateAccount.token } });
    expect(summarizeResponse(rejected)).toBe("401 INVALID_SIGN_IN_TOKEN");
  });

  test("ends only the session that the request carried when a user signs in again (rule CALLER-9)", async () => {
    const user = await rig.signUp({ handle: "renewer" });
    const otherUser = await rig.signUp();
    const signInLink = await rig.call("POST", "/internal/sign-in-links", {
      body: { handle: "renewer" },
    });
    // The previous session is in use, but it still ends immediately.
    expect((await rig.call("GET", path, { cookie: user.cookie })).status).toBe(200);
    const renewedCookie = await rig.signIn(parseToken(signInLink.body["signInUrl"]), {
      cookie: user.cookie,
    });
    expect(renewedCookie).not.toBe(user.cookie);
    expect((await rig.call("GET", path, { cookie: user.cookie })).status).toBe(401);
    expect((await rig.call("GET", path, { cookie: renewedCookie })).status).toBe(200);
    expect((await rig.call("GET", path, { cookie: otherUser.cookie })).status).toBe(200);
  });

  test("does not adopt a cookie that was planted before the sign-in", async () => {
    const { token } = await rig.createAccount();
    const plantedCookie = `session=${"A".repeat(43)}`;
    const cookie = await rig.signIn(token, { cookie: plantedCookie });
    expect(cookie).not.toBe(plantedCookie);
    expect((await rig.call("GET", path, { cookie: plantedCookie })).status).toBe(401);
  });

  test("keeps the request's session after a rejected sign-in", async () => {
    const { cookie } = await rig.signUp();
    await rig.call("POST", path, { cookie, body: { token: "wrong" } });
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
  });

  test("ends the oldest session above the limit (rule CALLER-9)", async () => {
    await rig.createAccount({ handle: "many_sessions" });
    const cookies: string[] = [];
    for (let count = 0; count <= sessionsMax; count += 1) {
      const body = { handle: "many_sessions" };
      const signInLink = await rig.call("POST", "/internal/sign-in-links", { body });
      cookies.push(await rig.signIn(parseToken(signInLink.body["signInUrl"])));
      rig.clock.advance(1);
    }
    const [oldest, ...newerCookies] = cookies;
    expect((await rig.call("GET", path, { cookie: oldest ?? "" })).status).toBe(401);
    expect((await rig.call("GET", path, { cookie: newerCookies[0] ?? "" })).status).toBe(200);
    // The audit log shows the revocation, because the new sign-ins may be someone else's.
    const { body } = await rig.call("GET", path, { cookie: newerCookies.at(-1) ?? "" });
    const userId = String(body["id"]);
    expect((await rig.readAudit(userId)).filter((action) => action === "session.revoked")).toEqual([
      "session.revoked",
    ]);
  });

  test.each([
    ["no token", "422 missing", {}],
    ["a number", "422 string_type", { token: 1 }],
    ["null", "422 string_type", { token: null }],
    ["a token of 60,000 characters", "422 string_too_long", { token: "a".repeat(60_000) }],
    ["NUL in the token", "422 string_pattern_mismatch", { token: "a\0b" }],
    ["an empty token", "401 INVALID_SIGN_IN_TOKEN", { token: "" }],
    ["a made-up token", "401 INVALID_SIGN_IN_TOKEN", { token: "A".repeat(43) }],
    ["a hash instead of a token", "401 INVALID_SIGN_IN_TOKEN", { token: "ab".repeat(32) }],
    ["a list", "422 model_attributes_type", "[]"],
    ["invalid JSON", "422 json_invalid", "{"],
    ["an empty body", "422 missing", ""],
  ])("given %s, responds %s", async (_name, expected, body) => {
    expect(summarizeResponse(await rig.call("POST", path, { body }))).toBe(expected);
  });

  test.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ "sec-fetch-site": "none" }],
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
  ])("rejects a cross-site request (%j) and keeps the token valid", async (headers) => {
    const { token } = await rig.createAccount();
    const rejected = await rig.call("POST", path, { body: { token }, headers });
    expect(summarizeResponse(rejected)).toBe("403 CROSS_SITE_REQUEST");
    await rig.signIn(token, { headers: { "sec-fetch-site": "same-origin" } });
  });

  test("rejects a content type that any site's form can send", async () => {
    const { token } = await rig.createAccount();
    const response = await rig.call("POST", path, {
      body: JSON.stringify({ token }),
      headers: { "content-type": "text/plain" },
    });
    expect(summarizeResponse(response)).toBe("422 model_attributes_type");
  });

  test("counts sign-ins by outcome", async () => {
    const { token } = await rig.createAccount();
    const countsBefore = await countSignIns();
    await rig.signIn(token);
    await rig.call("POST", path, { body: { token } });
    const countsAfter = await countSignIns();
    expect(countsAfter.succeeded - countsBefore.succeeded).toBe(1);
    expect(countsAfter.refused - countsBefore.refused).toBe(1);
  });

  test("sets host-only Secure cookies under https (rule CALLER-8)", async () => {
    const secureRig = await createRig({ baseUrl: "https://console.example" });
    try {
      const { token } = await secureRig.createAccount();
      const response = await secureRig.call("POST", path, { body: { token } });
      const lines = response.headers.getSetCookie();
      expect(lines.at(-1)).toMatch(
        /^__Host-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      for (const line of lines) expect(line).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
      // nginx, which many ingresses use, responds 502 if the headers exceed one memory page.
      const headerText = [...response.headers]
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      expect(Buffer.byteLength(headerText)).toBeLessThan(3_800);
    } finally {
      await secureRig.close();
    }
  });
});

describe("a session's tokens (rule CALLER-40)", () => {
  const services = ["auth-keys", "links-api", "webhook-dispatcher"] as const;
  const createTokens = async (rig: Rig) => {
    const { token } = await rig.createAccount();
    const { headers } = await rig.call("POST", path, { body: { token } });
    const pairs = headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
    return Object.fromEntries([...new Set(pairs)].map((pair) => pair.split("=")));
  };
  const introspectToken = async (rig: Rig, service: (typeof services)[number], token: string) => {
    const hash = hashSecret(token).toString("hex");
    return rig.call("POST", "/internal/introspect", { body: { kind: "session", hash, service } });
  };

  test("each work for their own service only", async () => {
    const tokens = await createTokens(rig);
    const names = ["session", "session-links", "session-webhooks"];
    expect(Object.keys(tokens)).toEqual(names);
    for (const [ownIndex, name] of names.entries()) {
      for (const [serviceIndex, service] of services.entries()) {
        const { body } = await introspectToken(rig, service, tokens[name] ?? "");
        expect([name, service, body["found"]]).toEqual([name, service, ownIndex === serviceIndex]);
      }
    }
  });

  test("of an older release, which all services received, no longer work", async () => {
    const { cookie } = await rig.signUp();
    const token = cookie.slice("session=".length);
    await rig.pool.query(sqlVoid`
      UPDATE sessions SET links_api_hash = NULL, webhook_dispatcher_hash = NULL
      WHERE hash = ${sql.binary(hashSecret(token))}
    `);
    expect(summarizeResponse(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test("reveal no wallets to webhook-dispatcher (rule CALLER-41)", async () => {
    const { token } = await rig.createAccount();
    const { headers } = await rig.call("POST", path, { body: { token } });
    const wallet = {
      walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
      tokenId: "usdc-base",
    };
    const cookie = getCookies(headers);
    await rig.call("POST", "/console/api/wallets", { cookie, body: wallet });
    const includesWallet = services.map(async (service, index) => {
      const name = ["session", "session-links", "session-webhooks"][index] ?? "";
      const cookieValue = new RegExp(`(?:^|, )${name}=([^;]+)`).exec(
        headers.get("set-cookie") ?? "",
      )?.[1];
      return JSON.stringify((await introspectToken(rig, service, cookieValue ?? "")).body).includes(
        "0x5290",
      );
    });
    expect(await Promise.all(includesWallet)).toEqual([true, true, false]);
  });
});

describe("DELETE /console/api/session", () => {
  test("ends the session immediately, deletes the cookie, and logs it", async () => {
    const { userId, cookie } = await rig.signUp();
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    const response = await rig.call("DELETE", path, { cookie });
    expect(response.status).toBe(204);
    expect(response.headers.get("set-cookie")).toMatch(
      /^session=; Max-Age=0; Path=\/console\/api\/session;/,
    );
    expect(summarizeResponse(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
    expect((await rig.introspect("session", cookie.slice("session=".length)))["found"]).toBe(false);
    expect(await rig.readAudit(userId)).toContain("session.ended");
  });

  test("rejects a cross-site request", async () => {
    const { cookie } = await rig.signUp();
    const headers = { "sec-fetch-site": "cross-site" };
    const rejected = await rig.call("DELETE", path, { cookie, headers });
    expect(summarizeResponse(rejected)).toBe("403 CROSS_SITE_REQUEST");
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
  });
});

describe("a session's end (rule CALLER-9)", () => {
  test("comes after the idle time, which each use restarts", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(sessionIdleMs - 1);
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    await rig.flushLastUses();
    rig.clock.advance(sessionIdleMs - 1);
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    await rig.flushLastUses();
    rig.clock.advance(sessionIdleMs);
    expect(summarizeResponse(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
    // A rejected request does not count as a use.
    await rig.flushLastUses();
    expect(summarizeResponse(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test("comes at the absolute end, however much the session is used", async () => {
    const { cookie } = await rig.signUp();
    const stepMs = sessionIdleMs / 2;
    for (let elapsedMs = stepMs; elapsedMs < sessionLifetimeMs; elapsedMs += stepMs) {
      rig.clock.advance(stepMs);
      expect((await rig.call("GET", path, { cookie })).status).toBe(200);
      await rig.flushLastUses();
    }
    rig.clock.advance(stepMs);
    expect((await rig.call("GET", path, { cookie })).status).toBe(401);
  });
});

const countSignIns = async () => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const getCount = (outcome: string): number =>
    metric?.values.find(({ labels }) => labels["outcome"] === outcome)?.value ?? 0;
  return { succeeded: getCount("succeeded"), refused: getCount("refused") };
};
