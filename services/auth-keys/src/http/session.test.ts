import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { hashSecret } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sessionIdleMs, sessionLifeMs, sessionsMax } from "../domain/session.ts";
import { type Rig, cookieOf, openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";

const path = "/console/api/session";
const minuteMs = 60_000;

const rig = useRig(openRig);

describe("POST /console/api/session", () => {
  test("given a sign-in token, answers the account and keeps a session in a cookie", async () => {
    const { userId, token } = await rig.makeAccount({ handle: "signer", username: "Sig Ner" });
    const answer = await rig.call("POST", path, { body: { token } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: userId,
      handle: "signer",
      username: "Sig Ner",
      bio: null,
      profileImage: null,
      backgroundImage: null,
      backgroundColour: null,
      links: null,
      dateCreated: "2026-11-21T10:00:00.000Z",
      isReady: false,
    });
    const [line] = answer.headers.getSetCookie();
    expect(line).toMatch(
      /^session=[\w-]{43}; Max-Age=43200; Path=\/console\/api\/session; HttpOnly; SameSite=Lax$/,
    );
    const cookie = cookieOf(answer.headers);
    expect((await rig.call("GET", path, { cookie })).body).toEqual(answer.body);
    expect(await rig.readAudit(userId)).toEqual([
      "account.created",
      "sign_in_link.made",
      "session.started",
    ]);
  });

  test("given one token twice, in turn, the second time is refused (rule CALLER-10)", async () => {
    const { token } = await rig.makeAccount();
    await rig.signIn(token);
    const again = await rig.call("POST", path, { body: { token } });
    expect(refusalOf(again)).toBe("401 INVALID_SIGN_IN_TOKEN");
    expect(again.headers.get("set-cookie")).toBeNull();
  });

  test("given one token ten times at once, exactly one wins and one session exists", async () => {
    const { userId, token } = await rig.makeAccount();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => rig.call("POST", path, { body: { token } })),
    );
    expect(answers.map(refusalOf).toSorted()).toEqual([
      "200",
      ...Array(9).fill("401 INVALID_SIGN_IN_TOKEN"),
    ]);
    const audit = await rig.readAudit(userId);
    expect(audit.filter((action) => action === "session.started")).toHaveLength(1);
  });

  test("a token is good until the clock reaches 15 minutes, and no longer (rule CALLER-10)", async () => {
    const inTime = await rig.makeAccount();
    const late = await rig.makeAccount();
    rig.clock.advance(15 * minuteMs - 1);
    expect((await rig.call("POST", path, { body: { token: inTime.token } })).status).toBe(200);
    rig.clock.advance(1);
    const refused = await rig.call("POST", path, { body: { token: late.token } });
    expect(refusalOf(refused)).toBe("401 INVALID_SIGN_IN_TOKEN");
  });

  test("signing in anew ends the session that the request carried, and only that (rule CALLER-9)", async () => {
    const alice = await rig.signUp({ handle: "renewer" });
    const other = await rig.signUp();
    const link = await rig.call("POST", "/internal/sign-in-links", { body: { handle: "renewer" } });
    // The former session is known, and still ends at once.
    expect((await rig.call("GET", path, { cookie: alice.cookie })).status).toBe(200);
    const renewed = await rig.signIn(tokenOf(link.body["signInUrl"]), { cookie: alice.cookie });
    expect(renewed).not.toBe(alice.cookie);
    expect((await rig.call("GET", path, { cookie: alice.cookie })).status).toBe(401);
    expect((await rig.call("GET", path, { cookie: renewed })).status).toBe(200);
    expect((await rig.call("GET", path, { cookie: other.cookie })).status).toBe(200);
  });

  test("a cookie planted before the sign-in is not adopted", async () => {
    const { token } = await rig.makeAccount();
    const planted = `session=${"A".repeat(43)}`;
    const cookie = await rig.signIn(token, { cookie: planted });
    expect(cookie).not.toBe(planted);
    expect((await rig.call("GET", path, { cookie: planted })).status).toBe(401);
  });

  test("a refused sign-in leaves the session that the request carried alive", async () => {
    const { cookie } = await rig.signUp();
    await rig.call("POST", path, { cookie, body: { token: "wrong" } });
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
  });

  test("given more sessions than an account may have, the oldest end (rule CALLER-9)", async () => {
    await rig.makeAccount({ handle: "many_sessions" });
    const cookies: string[] = [];
    for (let count = 0; count <= sessionsMax; count += 1) {
      const body = { handle: "many_sessions" };
      const link = await rig.call("POST", "/internal/sign-in-links", { body });
      cookies.push(await rig.signIn(tokenOf(link.body["signInUrl"])));
      rig.clock.advance(1);
    }
    const [oldest, ...rest] = cookies;
    expect((await rig.call("GET", path, { cookie: oldest ?? "" })).status).toBe(401);
    expect((await rig.call("GET", path, { cookie: rest[0] ?? "" })).status).toBe(200);
    // Its owner may miss it: whoever signed in so often may be somebody else.
    const { body } = await rig.call("GET", path, { cookie: rest.at(-1) ?? "" });
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
    ["no JSON", "422 json_invalid", "{"],
    ["nothing", "422 missing", ""],
  ])("given %s, answers %s", async (_name, expected, body) => {
    expect(refusalOf(await rig.call("POST", path, { body }))).toBe(expected);
  });

  test.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ "sec-fetch-site": "none" }],
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
  ])("given another site's request (%j), refuses it and leaves the token good", async (headers) => {
    const { token } = await rig.makeAccount();
    const refused = await rig.call("POST", path, { body: { token }, headers });
    expect(refusalOf(refused)).toBe("403 CROSS_SITE_REQUEST");
    await rig.signIn(token, { headers: { "sec-fetch-site": "same-origin" } });
  });

  test("a form's content type, which any site may send, is refused", async () => {
    const { token } = await rig.makeAccount();
    const answer = await rig.call("POST", path, {
      body: JSON.stringify({ token }),
      headers: { "content-type": "text/plain" },
    });
    expect(refusalOf(answer)).toBe("422 model_attributes_type");
  });

  test("sign-ins are counted by outcome", async () => {
    const { token } = await rig.makeAccount();
    const before = await countSignIns();
    await rig.signIn(token);
    await rig.call("POST", path, { body: { token } });
    const after = await countSignIns();
    expect(after.succeeded - before.succeeded).toBe(1);
    expect(after.refused - before.refused).toBe(1);
  });

  test("under https the cookie is host-only and Secure by its name (rule CALLER-8)", async () => {
    const secure = await openRig({ baseUrl: "https://console.example" });
    try {
      const { token } = await secure.makeAccount();
      const answer = await secure.call("POST", path, { body: { token } });
      const lines = answer.headers.getSetCookie();
      expect(lines.at(-1)).toMatch(
        /^__Host-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      for (const line of lines) expect(line).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
      // nginx, and so many an ingress, answers 502 where the head is longer than one page of memory.
      const head = [...answer.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
      expect(Buffer.byteLength(head)).toBeLessThan(3_800);
    } finally {
      await secure.close();
    }
  });
});

describe("a session's tokens (rule CALLER-40)", () => {
  const services = ["auth-keys", "links-api", "webhook-dispatcher"] as const;
  const tokensOf = async (rig: Rig) => {
    const { token } = await rig.makeAccount();
    const { headers } = await rig.call("POST", path, { body: { token } });
    const pairs = headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
    return Object.fromEntries([...new Set(pairs)].map((pair) => pair.split("=")));
  };
  const ask = async (rig: Rig, service: (typeof services)[number], token: string) => {
    const hash = hashSecret(token).toString("hex");
    return rig.call("POST", "/internal/introspect", { body: { kind: "session", hash, service } });
  };

  test("are each found for their own service, and for no other", async () => {
    const tokens = await tokensOf(rig);
    const names = ["session", "session-links", "session-webhooks"];
    expect(Object.keys(tokens)).toEqual(names);
    for (const [own, name] of names.entries()) {
      for (const [asking, service] of services.entries()) {
        const { body } = await ask(rig, service, tokens[name] ?? "");
        expect([name, service, body["found"]]).toEqual([name, service, own === asking]);
      }
    }
  });

  test("of an older release, which all services received, are good for nothing", async () => {
    const { cookie } = await rig.signUp();
    const token = cookie.slice("session=".length);
    await rig.pool.query(nothing`
      UPDATE sessions SET links_api_hash = NULL, webhook_dispatcher_hash = NULL
      WHERE hash = ${sql.binary(hashSecret(token))}
    `);
    expect(refusalOf(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test("tell webhook-dispatcher of no wallet (rule CALLER-41)", async () => {
    const { token } = await rig.makeAccount();
    const { headers } = await rig.call("POST", path, { body: { token } });
    const wallet = {
      walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
      tokenId: "usdc-base",
    };
    const cookie = cookieOf(headers);
    await rig.call("POST", "/console/api/wallets", { cookie, body: wallet });
    const seen = services.map(async (service, index) => {
      const name = ["session", "session-links", "session-webhooks"][index] ?? "";
      const set = new RegExp(`(?:^|, )${name}=([^;]+)`).exec(headers.get("set-cookie") ?? "")?.[1];
      return JSON.stringify((await ask(rig, service, set ?? "")).body).includes("0x5290");
    });
    expect(await Promise.all(seen)).toEqual([true, true, false]);
  });
});

describe("DELETE /console/api/session", () => {
  test("ends the session at once, takes the cookie away, and is written down", async () => {
    const { userId, cookie } = await rig.signUp();
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    const answer = await rig.call("DELETE", path, { cookie });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^session=; Max-Age=0; Path=\/console\/api\/session;/,
    );
    expect(refusalOf(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
    expect((await rig.introspect("session", cookie.slice("session=".length)))["found"]).toBe(false);
    expect(await rig.readAudit(userId)).toContain("session.ended");
  });

  test("another site cannot sign a person out", async () => {
    const { cookie } = await rig.signUp();
    const headers = { "sec-fetch-site": "cross-site" };
    const refused = await rig.call("DELETE", path, { cookie, headers });
    expect(refusalOf(refused)).toBe("403 CROSS_SITE_REQUEST");
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
  });
});

describe("a session's end (rule CALLER-9)", () => {
  test("comes after the idle time, and each use puts it off", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(sessionIdleMs - 1);
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    await rig.keepUses();
    rig.clock.advance(sessionIdleMs - 1);
    expect((await rig.call("GET", path, { cookie })).status).toBe(200);
    await rig.keepUses();
    rig.clock.advance(sessionIdleMs);
    expect(refusalOf(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
    // Whoever was refused has not used it.
    await rig.keepUses();
    expect(refusalOf(await rig.call("GET", path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test("comes at the absolute end, however much it is used", async () => {
    const { cookie } = await rig.signUp();
    const stepMs = sessionIdleMs / 2;
    for (let spentMs = stepMs; spentMs < sessionLifeMs; spentMs += stepMs) {
      rig.clock.advance(stepMs);
      expect((await rig.call("GET", path, { cookie })).status).toBe(200);
      await rig.keepUses();
    }
    rig.clock.advance(stepMs);
    expect((await rig.call("GET", path, { cookie })).status).toBe(401);
  });
});

const countSignIns = async () => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const of = (outcome: string): number =>
    metric?.values.find(({ labels }) => labels["outcome"] === outcome)?.value ?? 0;
  return { succeeded: of("succeeded"), refused: of("refused") };
};
