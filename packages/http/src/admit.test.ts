import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { mintApiKey } from "@payment-links/contracts";
import { readBody } from "./read-request.ts";
import { keyRoute, publicRoute, sessionRoute } from "./route.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Answer, type Call, call, codesOf } from "./testing/client.ts";
import { type Holder, type StartedApp, startApp } from "./testing/start-app.ts";

const key = mintApiKey("live");
const rotated = mintApiKey("live");
const readOnly = mintApiKey("live");
const unknown = mintApiKey("live");
const full: Holder = { scopes: ["payment_link:create", "payment_link:read"] };

const routes = [
  keyRoute({
    method: "post",
    path: "/create",
    scope: "payment_link:create",
    handle: async (req, res, caller) => {
      await readBody(req, z.object({}));
      res.json({ userId: caller.account.id });
    },
  }),
  publicRoute({ method: "get", path: "/public", handle: (_req, res) => void res.json({}) }),
  publicRoute({
    method: "get",
    path: "/file",
    ownLimit: { policy: "files", times: 3 },
    handle: (_req, res) => void res.json({}),
  }),
  ...(["get", "post", "patch", "delete"] as const).map((method) =>
    sessionRoute({
      method,
      path: "/console",
      handle: (_req, res, caller) => void res.json({ userId: caller.account.id }),
    }),
  ),
  keyRoute({
    method: "get",
    path: "/list",
    scope: "payment_link:read",
    handle: (_req, res, caller) => void res.json({ userId: caller.account.id }),
  }),
];

let app: StartedApp | undefined;
afterEach(() => app?.close());

const start = async (more: Partial<Parameters<typeof startApp>[0]> = {}) => {
  app = await startApp({
    routes,
    holders: {
      [key]: full,
      [rotated]: full,
      [readOnly]: { scopes: ["payment_link:read"], bucketId: "bucket_2" },
      "a session": {},
    },
    ...more,
  });
  return app;
};

const create = (port: number, headers: Call["headers"] = {}, body = "{}"): Promise<Answer> =>
  call({
    port,
    path: "/create",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

const address = "ip 127.0.0.1";

describe("a route for API keys", () => {
  test("tells the handler who calls", async () => {
    const { port } = await start();
    const answer = await create(port, { "x-api-key": key });
    expect([answer.status, answer.text]).toEqual([200, '{"userId":"user_1"}']);
  });

  test("refuses a missing, wrong, unknown or expired key and a missing scope by their codes (rule CALLER-1)", async () => {
    const expired = mintApiKey("live");
    const { port, clock } = await start({
      holders: {
        [readOnly]: {},
        [expired]: { ...full, expiresAt: new Date("2026-11-21T11:00:00Z") },
      },
    });
    const codeWith = async (headers: Call["headers"]) => {
      const answer = await create(port, headers);
      return `${answer.status} ${codesOf(answer)}`;
    };
    expect(await codeWith({})).toBe("401 UNAUTHENTICATED");
    expect(await codeWith({ "x-api-key": "" })).toBe("401 UNAUTHENTICATED");
    expect(await codeWith({ authorization: `Bearer ${key}` })).toBe("401 UNAUTHENTICATED");
    expect(await codeWith({ "x-api-key": "plk_live_typo" })).toBe("401 INVALID_API_KEY");
    expect(await codeWith({ "x-api-key": `${key}, ${key}` })).toBe("401 INVALID_API_KEY");
    expect(await codeWith({ "x-api-key": unknown })).toBe("401 INVALID_API_KEY");
    expect(await codeWith({ "x-api-key": "x".repeat(8000) })).toBe("401 INVALID_API_KEY");
    expect(await codeWith({ "x-api-key": readOnly })).toBe("403 INSUFFICIENT_API_SCOPE");
    clock.advance(3_600_000 - 1);
    expect((await create(port, { "x-api-key": expired })).status).toBe(200);
    clock.advance(1);
    expect(await codeWith({ "x-api-key": expired })).toBe("401 EXPIRED_API_KEY");
  });

  test("tells unknown, mistyped and revoked keys with the same bytes", async () => {
    const { port } = await start();
    const answers = await Promise.all(
      [unknown, "plk_live_typo", "x"].map((text) => create(port, { "x-api-key": text })),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  });

  test("checks limit, then key, then scope, then body (rule API-18)", async () => {
    const { port } = await start({ perAddress: { tokensPerSecond: 1, burst: 3 } });
    const wrong = "{";
    expect(codesOf(await create(port, {}, wrong))).toBe("UNAUTHENTICATED");
    expect(codesOf(await create(port, { "x-api-key": readOnly }, wrong))).toBe(
      "INSUFFICIENT_API_SCOPE",
    );
    expect(codesOf(await create(port, { "x-api-key": key }, wrong))).toBe("json_invalid");
    expect(codesOf(await create(port, {}, wrong))).toBe("429");
  });

  test("asks who calls only when that is not known, and again once the answer is old", async () => {
    const { port, clock, asked } = await start();
    for (let sent = 0; sent < 3; sent += 1) await create(port, { "x-api-key": key });
    expect(asked()).toBe(1);
    clock.advance(1001);
    await create(port, { "x-api-key": key });
    expect(asked()).toBe(2);
  });
});

describe("the address that auth-keys is told a key is used from", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8::7", "2001:db8::7"],
    ["fe80::1%eth0", undefined],
    ["no address", undefined],
  ])("for a client at %s is %s", async (client, told) => {
    const { port, addresses } = await start({ trustedProxies: ["127.0.0.1"] });
    await create(port, { "x-api-key": key, "x-forwarded-for": client });
    expect(addresses).toEqual([told]);
  });

  test("is none for a person's session", async () => {
    const { port, addresses } = await start();
    await call({ port, path: "/console", headers: { cookie: "session=a session" } });
    expect(addresses).toEqual([undefined]);
  });
});

describe("a key with a limit of its own (rule API-25)", () => {
  const own = { requestsPerMinute: 30, burst: 2 };
  const policyOf = ({ headers }: Answer): string =>
    String(headers["ratelimit-policy"]).split(", ")[0] ?? "";

  test("is refused at it, and told of it, while another key of the default goes on", async () => {
    const other = { ...full, bucketId: "bucket_2" };
    const { port } = await start({ holders: { [key]: { ...full, ...own }, [rotated]: other } });
    const answers: Answer[] = [];
    for (let sent = 0; sent < 3; sent += 1) answers.push(await create(port, { "x-api-key": key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(policyOf)).toEqual(Array(3).fill('"key";q=2;w=4'));
    expect(answers[2]?.headers["retry-after"]).toBe("2");
    const ample = await create(port, { "x-api-key": rotated });
    expect([ample.status, policyOf(ample)]).toEqual([200, '"key";q=1000;w=1']);
  });

  test("has a request again as its own rate gives it one", async () => {
    const { port, clock } = await start({ holders: { [key]: { ...full, ...own } } });
    const status = async () => (await create(port, { "x-api-key": key })).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    clock.advance(1_999);
    expect(await status()).toBe(429);
    clock.advance(1);
    expect([await status(), await status()]).toEqual([200, 429]);
  });

  test.each([
    ["a rate alone keeps the burst", { requestsPerMinute: 600 }, '"key";q=100;w=10'],
    ["a burst alone keeps the rate", { burst: 20 }, '"key";q=20;w=1'],
    ["more than the installation grants is what that grants", { burst: 101 }, '"key";q=100;w=4'],
  ])("%s", async (_name, given, policy) => {
    const perKey = { tokensPerSecond: 25, burst: 100 };
    const { port } = await start({ perKey, holders: { [key]: { ...full, ...given } } });
    expect(policyOf(await create(port, { "x-api-key": key }))).toBe(policy);
  });
});

describe("a key of which it is known who calls", () => {
  test("is held against scope and address at each call all the same", async () => {
    const { port, asked } = await start({
      trustedProxies: ["127.0.0.1"],
      holders: {
        [key]: { scopes: ["payment_link:create"] },
        [readOnly]: { scopes: ["payment_link:read"], cidrs: ["203.0.113.7"] },
      },
    });
    const listBy = async (text: string, from: string): Promise<string> => {
      const headers = { "x-api-key": text, "x-forwarded-for": from };
      const answer = await call({ port, path: "/list", headers });
      return answer.status === 200 ? "200" : codesOf(answer);
    };
    expect((await create(port, { "x-api-key": key })).status).toBe(200);
    expect(await listBy(key, "203.0.113.7")).toBe("INSUFFICIENT_API_SCOPE");
    expect(await listBy(readOnly, "203.0.113.7")).toBe("200");
    expect(await listBy(readOnly, "203.0.113.8")).toBe("API_KEY_ADDRESS_REFUSED");
    expect(asked()).toBe(2);
  });
});

describe("a key that is bound to addresses (rule CALLER-1)", () => {
  const proxied = { trustedProxies: ["127.0.0.1"] };
  const outcomeFrom = async (cidrs: string[], address: string): Promise<string> => {
    const started = await start({ ...proxied, holders: { [key]: { ...full, cidrs } } });
    const headers = { "x-api-key": key, "x-forwarded-for": address };
    const answer = await create(started.port, headers);
    await started.close();
    return answer.status === 200 ? "200" : `${answer.status} ${codesOf(answer)}`;
  };
  const refused = "403 API_KEY_ADDRESS_REFUSED";

  test.each([
    [["203.0.113.0/24"], "203.0.113.255", "200"],
    [["203.0.113.0/24"], "203.0.114.0", refused],
    [["203.0.113.7"], "203.0.113.7", "200"],
    [["203.0.113.7"], "203.0.113.8", refused],
    [["203.0.113.7"], "::ffff:203.0.113.7", "200"],
    [["2001:db8::/32", "203.0.113.7"], "2001:db8:ffff::1", "200"],
    [["2001:db8::/32"], "2001:db9::1", refused],
    [["2001:db8::/32"], "203.0.113.7", refused],
  ])("to %j, from %s: %s", async (cidrs, address, expected) => {
    expect(await outcomeFrom(cidrs, address)).toBe(expected);
  });

  test("is refused by its address before its scope, and an address in a header of its own counts nothing", async () => {
    const { port } = await start({ holders: { [readOnly]: { cidrs: ["203.0.113.7"] } } });
    const headers = { "x-api-key": readOnly, "x-forwarded-for": "203.0.113.7" };
    expect(codesOf(await create(port, headers))).toBe("API_KEY_ADDRESS_REFUSED");
  });
});

describe("how old an answer about a caller may be (rule CALLER-3)", () => {
  type Method = "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  const session = { cookie: "session=a%20session" };
  const calls: [Method, string, Record<string, string>, number][] = [
    ["GET", "/list", { "x-api-key": key }, 5_000],
    ["POST", "/create", { "x-api-key": key, "content-type": "application/json" }, 1_000],
    ["GET", "/console", session, 5_000],
    ["HEAD", "/console", session, 5_000],
    ["POST", "/console", session, 1_000],
    ["PATCH", "/console", session, 1_000],
    ["DELETE", "/console", session, 1_000],
  ];
  const send = (port: number, [method, path, headers]: (typeof calls)[number]) => {
    const body = path === "/create" ? { body: "{}" } : {};
    return call({ port, path, method, headers, ...body });
  };

  test.each(calls)("%s %s with %j: %i ms", async (...one) => {
    const { port, clock, asked } = await start();
    await send(port, one);
    clock.advance(one[3]);
    expect((await send(port, one)).status).toBe(200);
    expect(asked()).toBe(1);
    clock.advance(1);
    expect((await send(port, one)).status).toBe(200);
    expect(asked()).toBe(2);
  });

  test.each(calls)(
    "%s %s with %j is refused %i ms after the credential ended (rule CALLER-4)",
    async (...one) => {
      const { port, clock, forget } = await start();
      await send(port, one);
      forget(key);
      forget("a session");
      clock.advance(one[3]);
      expect((await send(port, one)).status).toBe(200);
      clock.advance(1);
      expect((await send(port, one)).status).toBe(401);
    },
  );

  test.each(calls)(
    "%s %s with %j while auth-keys is away (rules CALLER-4 and ERROR-3)",
    async (...one) => {
      const started = await start();
      const { port, clock } = started;
      await send(port, one);
      started.goAway();
      clock.advance(one[3] + 1);
      const isRead = one[3] === 5_000;
      expect((await send(port, one)).status).toBe(isRead ? 200 : 503);
      clock.advance(60_000 - one[3] - 1);
      expect((await send(port, one)).status).toBe(isRead ? 200 : 503);
      clock.advance(1);
      expect((await send(port, one)).status).toBe(503);
    },
  );
});

describe("a caller whose body comes long after its head", () => {
  const callers = [
    ["key", "/create", { "x-api-key": key }, key, "INVALID_API_KEY"],
    ["session", "/console", { cookie: "session=a%20session" }, "a session", "UNAUTHENTICATED"],
  ] as const;

  /** Sends half a body, lets `meanwhile` happen, and sends the rest. */
  const sendSlowly = async (
    path: string,
    headers: Record<string, string>,
    meanwhile: (started: StartedApp) => void,
  ) => {
    const started = await start();
    const { port, asked } = started;
    const sent = request({
      port,
      path,
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", "content-length": "2", ...headers },
    });
    const answered = new Promise<string>((resolve, reject) => {
      sent.on("error", reject);
      sent.on("response", (res) => {
        void text(res).then((body) => resolve(`${res.statusCode} ${body}`), reject);
      });
    });
    sent.write("{");
    await waitUntil("it is known who calls", () => asked() === 1);
    meanwhile(started);
    sent.end("}");
    return { started, answer: await answered };
  };

  test.each(callers)("by a %s is not let in if that ended meanwhile", async (...one) => {
    const [, path, headers, secret, code] = one;
    const { answer } = await sendSlowly(path, headers, ({ clock, forget }) => {
      clock.advance(1_001);
      forget(secret);
    });
    expect(answer).toContain("401 ");
    expect(answer).toContain(code);
  });

  test.each(callers)("by a %s is asked about again, and charged once", async (...one) => {
    const [, path, headers] = one;
    const { answer, started } = await sendSlowly(path, headers, ({ clock }) => {
      clock.advance(1_001);
    });
    expect(answer).toBe('200 {"userId":"user_1"}');
    expect(started.asked()).toBe(2);
    const buckets = started.charged.flat();
    expect(buckets).toEqual([...new Set(buckets)]);
  });
});

describe("a body that does not come whole", () => {
  test("keeps a handler that reads none from what it would do", async () => {
    const handled: string[] = [];
    const answered: string[] = [];
    const started = await start({
      routes: [
        sessionRoute({
          method: "delete",
          path: "/console",
          handle: (_req, res) => {
            handled.push("deleted");
            res.json({});
          },
        }),
      ],
    });
    const sent = request({
      port: started.port,
      path: "/console",
      method: "DELETE",
      agent: false,
      headers: { cookie: "session=a%20session", "content-length": "2" },
    });
    sent.on("error", () => answered.push("none"));
    sent.write("{");
    await waitUntil("it is known who calls", () => started.asked() === 1);
    sent.destroy();
    await waitUntil("it is over", async () =>
      /http_response_status_code="499"/.test(await started.metrics.metrics()),
    );
    // Whoever comes later is handled behind it.
    const later = { cookie: "session=a%20session" };
    await call({ port: started.port, path: "/console", method: "DELETE", headers: later });
    expect(handled).toEqual(["deleted"]);
  });

  test("is refused at once where it is too large, also by a route that reads none", async () => {
    const { port } = await start();
    const sent = request({
      port,
      path: "/console",
      method: "POST",
      agent: false,
      headers: { cookie: "session=a%20session", "transfer-encoding": "chunked" },
    });
    const status = new Promise<number | undefined>((resolve, reject) => {
      sent.on("response", (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      sent.on("error", reject);
    });
    for (let part = 0; part < 5; part += 1) sent.write("x".repeat(16 * 1024));
    expect(await status).toBe(413);
    sent.destroy();
  });
});

describe("what a call pays (rule API-21)", () => {
  test("a cold key: from the address's bucket, then its own; a warm one: from both at once", async () => {
    const { port, charged } = await start();
    await create(port, { "x-api-key": key });
    await create(port, { "x-api-key": key });
    expect(charged).toEqual([[address], ["key bucket_1"], ["key bucket_1", address]]);
  });

  test("an unknown, mistyped or missing key: from the address's bucket alone (rule API-22)", async () => {
    const { port, charged, asked } = await start();
    await create(port, { "x-api-key": unknown });
    await create(port, { "x-api-key": "plk_live_typo" });
    await create(port);
    expect(charged).toEqual([[address], [address], [address]]);
    expect(asked()).toBe(1);
  });

  test("a key without the scope pays all the same", async () => {
    const { port, charged } = await start();
    await create(port, { "x-api-key": readOnly });
    await create(port, { "x-api-key": readOnly });
    expect(charged[2]).toEqual(["key bucket_2", address]);
  });

  test("keys rotated from one another pay from one bucket (rule API-22)", async () => {
    const { port } = await start({ perKey: { tokensPerSecond: 1, burst: 2 } });
    expect((await create(port, { "x-api-key": key })).status).toBe(200);
    expect((await create(port, { "x-api-key": rotated })).status).toBe(200);
    expect((await create(port, { "x-api-key": key })).status).toBe(429);
    expect((await create(port, { "x-api-key": rotated })).status).toBe(429);
  });

  test("an address over its limit asks auth-keys nothing", async () => {
    const { port, asked } = await start({ perAddress: { tokensPerSecond: 1, burst: 1 } });
    await create(port);
    expect((await create(port, { "x-api-key": key })).status).toBe(429);
    expect(asked()).toBe(0);
  });

  test("public and console routes: from the address's bucket", async () => {
    const { port, charged } = await start();
    await call({ port, path: "/public" });
    await call({ port, path: "/console" });
    expect(charged).toEqual([[address], [address]]);
  });

  test("a route with a bucket of its own: from that, which is a multiple of the address's (rule API-21)", async () => {
    const { port, charged } = await start({ perAddress: { tokensPerSecond: 0.001, burst: 2 } });
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      statuses.push((await call({ port, path: "/file" })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
    expect((await call({ port, path: "/public" })).status).toBe(200);
    expect(charged[0]).toEqual(["files 127.0.0.1"]);
  });
});

describe("the rate-limit headers (rule API-22)", () => {
  const limits = {
    perKey: { tokensPerSecond: 1, burst: 3 },
    perAddress: { tokensPerSecond: 2, burst: 10 },
  };
  const told = ({ status, headers }: Answer) => ({
    status,
    policy: headers["ratelimit-policy"],
    limit: headers["ratelimit"],
    retryAfter: headers["retry-after"],
  });
  const policy = '"key";q=3;w=3, "ip";q=10;w=5';

  test("stand on every limited answer, cold and warm, refused and not; Retry-After on 429 alone", async () => {
    const { port, clock } = await start(limits);
    const headers = { "x-api-key": key };
    expect(told(await create(port, headers))).toEqual({
      status: 200,
      policy,
      limit: '"key";r=2;t=1, "ip";r=9;t=1',
      retryAfter: undefined,
    });
    expect(told(await create(port, headers))).toEqual({
      status: 200,
      policy,
      limit: '"key";r=1;t=2, "ip";r=8;t=1',
      retryAfter: undefined,
    });
    expect(told(await create(port, headers, "{"))).toMatchObject({ status: 422, policy });
    expect(told(await create(port, headers))).toEqual({
      status: 429,
      policy,
      limit: expect.stringMatching(/^"key";r=0;t=1, "ip";r=7;t=\d$/),
      retryAfter: "1",
    });
    clock.advance(1000);
    expect((await create(port, headers)).status).toBe(200);
  });

  test("given a cold key whose own bucket is empty, tell both buckets and when to come again", async () => {
    const { port, clock } = await start({ ...limits, perKey: { tokensPerSecond: 0.1, burst: 1 } });
    await create(port, { "x-api-key": key });
    clock.advance(5001);
    const answer = await create(port, { "x-api-key": key });
    expect(codesOf(answer)).toBe("429");
    expect(told(answer)).toEqual({
      status: 429,
      policy: '"key";q=1;w=10, "ip";q=10;w=5',
      limit: expect.stringMatching(/^"key";r=0;t=5, "ip";r=9;t=1$/),
      retryAfter: "5",
    });
  });

  test("stand on the answers of routes without a key as well, for the address alone", async () => {
    const { port } = await start(limits);
    for (const path of ["/public", "/console"]) {
      const { headers } = await call({ port, path });
      expect(headers["ratelimit-policy"]).toBe('"ip";q=10;w=5');
      expect(headers["ratelimit"]).toMatch(/^"ip";r=[89];t=1$/);
    }
    expect((await create(port)).headers["ratelimit-policy"]).toBe('"ip";q=10;w=5');
  });
});

describe("a console route", () => {
  test.each([
    [{ cookie: "session=a%20session" }, 200, undefined],
    [{}, 401, "UNAUTHENTICATED"],
    [{ cookie: "session=" }, 401, "UNAUTHENTICATED"],
    [{ cookie: "session=another" }, 401, "UNAUTHENTICATED"],
    [{ cookie: "__Host-session=a%20session" }, 401, "UNAUTHENTICATED"],
    [{ "x-api-key": "plk_live_any" }, 401, "UNAUTHENTICATED"],
    [{ cookie: "session=a%20session", "sec-fetch-site": "cross-site" }, 403, "CROSS_SITE_REQUEST"],
  ])("given %j, answers %i", async (headers, status, code) => {
    const { port } = await start();
    const answer = await call({ port, path: "/console", headers });
    expect(answer.status).toBe(status);
    if (code !== undefined) expect(codesOf(answer)).toBe(code);
  });
});
