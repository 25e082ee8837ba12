import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { generateApiKey } from "@payment-links/contracts";
import { readJsonBody } from "./parse-request.ts";
import { keyRoute, publicRoute, sessionRoute } from "./route.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type TestResponse,
  type RequestOptions,
  sendRequest,
  getErrorCodes,
} from "./testing/client.ts";
import { type TestCredential, type StartedApp, startApp } from "./testing/start-app.ts";

const apiKey = generateApiKey("live");
const rotatedKey = generateApiKey("live");
const readOnlyKey = generateApiKey("live");
const unknownKey = generateApiKey("live");
const fullCredential: TestCredential = { scopes: ["payment_link:create", "payment_link:read"] };

const routes = [
  keyRoute({
    method: "post",
    path: "/create",
    scope: "payment_link:create",
    handle: async (req, res, caller) => {
      await readJsonBody(req, z.object({}));
      res.json({ userId: caller.account.id });
    },
  }),
  publicRoute({ method: "get", path: "/public", handle: (_req, res) => void res.json({}) }),
  publicRoute({
    method: "get",
    path: "/file",
    routeLimit: { policy: "files", factor: 3 },
    handle: (_req, res) => void res.json({}),
  }),
  ...(["get", "post", "patch", "delete"] as const).map((method) =>
    sessionRoute({
      method,
      path: "/console",
      handle: (_req, res, caller) => void res.json({ userId: caller.account.id }),
    }),
  ),
  sessionRoute({
    method: "get",
    path: "/costly",
    routeLimit: { policy: "scans", limit: { tokensPerSecond: 0.5, burst: 2 } },
    handle: (_req, res) => void res.json({}),
  }),
  keyRoute({
    method: "get",
    path: "/list",
    scope: "payment_link:read",
    handle: (_req, res, caller) => void res.json({ userId: caller.account.id }),
  }),
];

let app: StartedApp | undefined;
afterEach(() => app?.close());

const startTestApp = async (overrides: Partial<Parameters<typeof startApp>[0]> = {}) => {
  app = await startApp({
    routes,
    credentials: {
      [apiKey]: fullCredential,
      [rotatedKey]: fullCredential,
      [readOnlyKey]: { scopes: ["payment_link:read"], bucketId: "bucket_2" },
      "a session": {},
    },
    ...overrides,
  });
  return app;
};

const sendCreate = (
  port: number,
  headers: RequestOptions["headers"] = {},
  body = "{}",
): Promise<TestResponse> =>
  sendRequest({
    port,
    path: "/create",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

const addressBucketName = "ip 127.0.0.1";

describe("a route for API keys", () => {
  test("passes the caller to the handler", async () => {
    const { port } = await startTestApp();
    const response = await sendCreate(port, { "x-api-key": apiKey });
    expect([response.status, response.text]).toEqual([200, '{"userId":"user_1"}']);
  });

  test("rejects a missing, wrong, unknown or expired key and a missing scope with their codes (rule CALLER-1)", async () => {
    const expired = generateApiKey("live");
    const { port, clock } = await startTestApp({
      credentials: {
        [readOnlyKey]: {},
        [expired]: { ...fullCredential, expiresAt: new Date("2026-11-21T11:00:00Z") },
      },
    });
    const getStatusAndCode = async (headers: RequestOptions["headers"]) => {
      const response = await sendCreate(port, headers);
      return `${response.status} ${getErrorCodes(response)}`;
    };
    expect(await getStatusAndCode({})).toBe("401 UNAUTHENTICATED");
    expect(await getStatusAndCode({ "x-api-key": "" })).toBe("401 UNAUTHENTICATED");
    expect(await getStatusAndCode({ authorization: `Bearer ${apiKey}` })).toBe(
      "401 UNAUTHENTICATED",
    );
    expect(await getStatusAndCode({ "x-api-key": "plk_live_typo" })).toBe("401 INVALID_API_KEY");
    expect(await getStatusAndCode({ "x-api-key": `${apiKey}, ${apiKey}` })).toBe(
      "401 INVALID_API_KEY",
    );
    expect(await getStatusAndCode({ "x-api-key": unknownKey })).toBe("401 INVALID_API_KEY");
    expect(await getStatusAndCode({ "x-api-key": "x".repeat(8000) })).toBe("401 INVALID_API_KEY");
    expect(await getStatusAndCode({ "x-api-key": readOnlyKey })).toBe("403 INSUFFICIENT_API_SCOPE");
    clock.advance(3_600_000 - 1);
    expect((await sendCreate(port, { "x-api-key": expired })).status).toBe(200);
    clock.advance(1);
    expect(await getStatusAndCode({ "x-api-key": expired })).toBe("401 EXPIRED_API_KEY");
  });

  test("sends identical responses for unknown, mistyped and revoked keys", async () => {
    const { port } = await startTestApp();
    const responses = await Promise.all(
      [unknownKey, "plk_live_typo", "x"].map((text) => sendCreate(port, { "x-api-key": text })),
    );
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
  });

  test("checks limit, then key, then scope, then body (rule API-18)", async () => {
    const { port } = await startTestApp({ perAddress: { tokensPerSecond: 1, burst: 3 } });
    const invalidBody = "{";
    expect(getErrorCodes(await sendCreate(port, {}, invalidBody))).toBe("UNAUTHENTICATED");
    expect(getErrorCodes(await sendCreate(port, { "x-api-key": readOnlyKey }, invalidBody))).toBe(
      "INSUFFICIENT_API_SCOPE",
    );
    expect(getErrorCodes(await sendCreate(port, { "x-api-key": apiKey }, invalidBody))).toBe(
      "json_invalid",
    );
    expect(getErrorCodes(await sendCreate(port, {}, invalidBody))).toBe("429");
  });

  test("introspects a key only once, and again after its result has expired", async () => {
    const { port, clock, getIntrospectionCount } = await startTestApp();
    for (let clientRequest = 0; clientRequest < 3; clientRequest += 1)
      await sendCreate(port, { "x-api-key": apiKey });
    expect(getIntrospectionCount()).toBe(1);
    clock.advance(1001);
    await sendCreate(port, { "x-api-key": apiKey });
    expect(getIntrospectionCount()).toBe(2);
  });
});

describe("the address that auth-keys receives with a key", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8::7", "2001:db8::7"],
    ["fe80::1%eth0", undefined],
    ["no address", undefined],
  ])("for a client at %s is %s", async (clientAddress, expectedAddress) => {
    const { port, reportedAddresses } = await startTestApp({ trustedProxies: ["127.0.0.1"] });
    await sendCreate(port, { "x-api-key": apiKey, "x-forwarded-for": clientAddress });
    expect(reportedAddresses).toEqual([expectedAddress]);
  });

  test("is absent for a user's session", async () => {
    const { port, reportedAddresses } = await startTestApp();
    await sendRequest({ port, path: "/console", headers: { cookie: "session=a session" } });
    expect(reportedAddresses).toEqual([undefined]);
  });
});

describe("a key with its own limit (rule API-25)", () => {
  const credentialLimit = { requestsPerMinute: 30, burst: 2 };
  const getKeyPolicy = ({ headers }: TestResponse): string =>
    String(headers["ratelimit-policy"]).split(", ")[0] ?? "";

  test("is rejected at its limit and sees it in the headers, while a key with the default limit continues", async () => {
    const otherCredential = { ...fullCredential, bucketId: "bucket_2" };
    const { port } = await startTestApp({
      credentials: {
        [apiKey]: { ...fullCredential, ...credentialLimit },
        [rotatedKey]: otherCredential,
      },
    });
    const responses: TestResponse[] = [];
    for (let clientRequest = 0; clientRequest < 3; clientRequest += 1)
      responses.push(await sendCreate(port, { "x-api-key": apiKey }));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(responses.map(getKeyPolicy)).toEqual(Array(3).fill('"key";q=2;w=4'));
    expect(responses[2]?.headers["retry-after"]).toBe("2");
    const responseOfOtherKey = await sendCreate(port, { "x-api-key": rotatedKey });
    expect([responseOfOtherKey.status, getKeyPolicy(responseOfOtherKey)]).toEqual([
      200,
      '"key";q=1000;w=1',
    ]);
  });

  test("regains a request at its own rate", async () => {
    const { port, clock } = await startTestApp({
      credentials: { [apiKey]: { ...fullCredential, ...credentialLimit } },
    });
    const status = async () => (await sendCreate(port, { "x-api-key": apiKey })).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    clock.advance(1_999);
    expect(await status()).toBe(429);
    clock.advance(1);
    expect([await status(), await status()]).toEqual([200, 429]);
  });

  test.each([
    [
      "a rate without a burst uses the default burst",
      { requestsPerMinute: 600 },
      '"key";q=100;w=10',
    ],
    ["a burst without a rate uses the default rate", { burst: 20 }, '"key";q=20;w=1'],
    ["a limit above the installation's is capped", { burst: 101 }, '"key";q=100;w=4'],
  ])("%s", async (_name, limitOverrides, policyHeader) => {
    const perKey = { tokensPerSecond: 25, burst: 100 };
    const { port } = await startTestApp({
      perKey,
      credentials: { [apiKey]: { ...fullCredential, ...limitOverrides } },
    });
    expect(getKeyPolicy(await sendCreate(port, { "x-api-key": apiKey }))).toBe(policyHeader);
  });
});

describe("a session route with its own limit", () => {
  test("limits the account too, because one account can call from many addresses", async () => {
    const { port, clock } = await startTestApp({ trustedProxies: ["127.0.0.1"] });
    const callFrom = async (address: string): Promise<number> => {
      const headers = { cookie: "session=a%20session", "x-forwarded-for": address };
      return (await sendRequest({ port, path: "/costly", headers })).status;
    };
    expect(await callFrom("203.0.113.1")).toBe(200);
    expect(await callFrom("203.0.113.2")).toBe(200);
    expect(await callFrom("203.0.113.3")).toBe(429);
    clock.advance(2_000);
    expect(await callFrom("203.0.113.4")).toBe(200);
  });
});

describe("a key with a cached caller", () => {
  test("is still checked for scope and address on each call", async () => {
    const { port, getIntrospectionCount } = await startTestApp({
      trustedProxies: ["127.0.0.1"],
      credentials: {
        [apiKey]: { scopes: ["payment_link:create"] },
        [readOnlyKey]: { scopes: ["payment_link:read"], cidrs: ["203.0.113.7"] },
      },
    });
    const listWithKey = async (text: string, fromAddress: string): Promise<string> => {
      const headers = { "x-api-key": text, "x-forwarded-for": fromAddress };
      const response = await sendRequest({ port, path: "/list", headers });
      return response.status === 200 ? "200" : getErrorCodes(response);
    };
    expect((await sendCreate(port, { "x-api-key": apiKey })).status).toBe(200);
    expect(await listWithKey(apiKey, "203.0.113.7")).toBe("INSUFFICIENT_API_SCOPE");
    expect(await listWithKey(readOnlyKey, "203.0.113.7")).toBe("200");
    expect(await listWithKey(readOnlyKey, "203.0.113.8")).toBe("API_KEY_ADDRESS_REFUSED");
    expect(getIntrospectionCount()).toBe(2);
  });
});

describe("a key restricted to addresses (rule CALLER-1)", () => {
  const proxiedOptions = { trustedProxies: ["127.0.0.1"] };
  const getOutcome = async (cidrs: string[], addressBucketName: string): Promise<string> => {
    const started = await startTestApp({
      ...proxiedOptions,
      credentials: { [apiKey]: { ...fullCredential, cidrs } },
    });
    const headers = { "x-api-key": apiKey, "x-forwarded-for": addressBucketName };
    const response = await sendCreate(started.port, headers);
    await started.close();
    return response.status === 200 ? "200" : `${response.status} ${getErrorCodes(response)}`;
  };
  const rejection = "403 API_KEY_ADDRESS_REFUSED";

  test.each([
    [["203.0.113.0/24"], "203.0.113.255", "200"],
    [["203.0.113.0/24"], "203.0.114.0", rejection],
    [["203.0.113.7"], "203.0.113.7", "200"],
    [["203.0.113.7"], "203.0.113.8", rejection],
    [["203.0.113.7"], "::ffff:203.0.113.7", "200"],
    [["2001:db8::/32", "203.0.113.7"], "2001:db8:ffff::1", "200"],
    [["2001:db8::/32"], "2001:db9::1", rejection],
    [["2001:db8::/32"], "203.0.113.7", rejection],
  ])("restricted to %j, from %s: %s", async (cidrs, addressBucketName, expected) => {
    expect(await getOutcome(cidrs, addressBucketName)).toBe(expected);
  });

  test("is rejected for its address before its scope, and ignores an untrusted X-Forwarded-For", async () => {
    const { port } = await startTestApp({
      credentials: { [readOnlyKey]: { cidrs: ["203.0.113.7"] } },
    });
    const headers = { "x-api-key": readOnlyKey, "x-forwarded-for": "203.0.113.7" };
    expect(getErrorCodes(await sendCreate(port, headers))).toBe("API_KEY_ADDRESS_REFUSED");
  });
});

describe("the maximum age of a cached caller (rule CALLER-3)", () => {
  type Method = "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  const session = { cookie: "session=a%20session" };
  const testCalls: [Method, string, Record<string, string>, number][] = [
    ["GET", "/list", { "x-api-key": apiKey }, 5_000],
    ["POST", "/create", { "x-api-key": apiKey, "content-type": "application/json" }, 1_000],
    ["GET", "/console", session, 5_000],
    ["HEAD", "/console", session, 5_000],
    ["POST", "/console", session, 1_000],
    ["PATCH", "/console", session, 1_000],
    ["DELETE", "/console", session, 1_000],
  ];
  const sendCall = (port: number, [method, path, headers]: (typeof testCalls)[number]) => {
    const body = path === "/create" ? { body: "{}" } : {};
    return sendRequest({ port, path, method, headers, ...body });
  };

  test.each(testCalls)("for %s %s with %j is %i ms", async (...testCase) => {
    const { port, clock, getIntrospectionCount } = await startTestApp();
    await sendCall(port, testCase);
    clock.advance(testCase[3]);
    expect((await sendCall(port, testCase)).status).toBe(200);
    expect(getIntrospectionCount()).toBe(1);
    clock.advance(1);
    expect((await sendCall(port, testCase)).status).toBe(200);
    expect(getIntrospectionCount()).toBe(2);
  });

  test.each(testCalls)(
    "%s %s with %j is rejected %i ms after the credential was removed (rule CALLER-4)",
    async (...testCase) => {
      const { port, clock, removeCredential } = await startTestApp();
      await sendCall(port, testCase);
      removeCredential(apiKey);
      removeCredential("a session");
      clock.advance(testCase[3]);
      expect((await sendCall(port, testCase)).status).toBe(200);
      clock.advance(1);
      expect((await sendCall(port, testCase)).status).toBe(401);
    },
  );

  test.each(testCalls)(
    "%s %s with %j while auth-keys is unavailable (rules CALLER-4 and ERROR-3)",
    async (...testCase) => {
      const started = await startTestApp();
      const { port, clock } = started;
      await sendCall(port, testCase);
      started.stopAuthKeys();
      clock.advance(testCase[3] + 1);
      const isReadRequest = testCase[3] === 5_000;
      expect((await sendCall(port, testCase)).status).toBe(isReadRequest ? 200 : 503);
      clock.advance(60_000 - testCase[3] - 1);
      expect((await sendCall(port, testCase)).status).toBe(isReadRequest ? 200 : 503);
      clock.advance(1);
      expect((await sendCall(port, testCase)).status).toBe(503);
    },
  );
});

describe("a caller whose body arrives long after its headers", () => {
  const callerCases = [
    ["key", "/create", { "x-api-key": apiKey }, apiKey, "INVALID_API_KEY"],
    ["session", "/console", { cookie: "session=a%20session" }, "a session", "UNAUTHENTICATED"],
  ] as const;

  /** Sends half of a body, calls `beforeRest`, and sends the rest. */
  const sendBodySlowly = async (
    path: string,
    headers: Record<string, string>,
    beforeRest: (started: StartedApp) => void,
  ) => {
    const started = await startTestApp();
    const { port, getIntrospectionCount } = started;
    const clientRequest = request({
      port,
      path,
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", "content-length": "2", ...headers },
    });
    const responsePromise = new Promise<string>((resolve, reject) => {
      clientRequest.on("error", reject);
      clientRequest.on("response", (res) => {
        void text(res).then((body) => resolve(`${res.statusCode} ${body}`), reject);
      });
    });
    clientRequest.write("{");
    await waitUntil("the caller is identified", () => getIntrospectionCount() === 1);
    beforeRest(started);
    clientRequest.end("}");
    return { started, response: await responsePromise };
  };

  test.each(callerCases)("is rejected if its %s has ended meanwhile", async (...testCase) => {
    const [, path, headers, credential, code] = testCase;
    const { response } = await sendBodySlowly(path, headers, ({ clock, removeCredential }) => {
      clock.advance(1_001);
      removeCredential(credential);
    });
    expect(response).toContain("401 ");
    expect(response).toContain(code);
  });

  test.each(callerCases)("has its %s checked again, and takes tokens once", async (...testCase) => {
    const [, path, headers] = testCase;
    const { response, started } = await sendBodySlowly(path, headers, ({ clock }) => {
      clock.advance(1_001);
    });
    expect(response).toBe('200 {"userId":"user_1"}');
    expect(started.getIntrospectionCount()).toBe(2);
    const buckets = started.requestedBuckets.flat();
    expect(buckets).toEqual([...new Set(buckets)]);
  });
});

describe("an incomplete body", () => {
  test("prevents the action of a handler that reads no body", async () => {
    const handledRequests: string[] = [];
    const responsePromise: string[] = [];
    const started = await startTestApp({
      routes: [
        sessionRoute({
          method: "delete",
          path: "/console",
          handle: (_req, res) => {
            handledRequests.push("deleted");
            res.json({});
          },
        }),
      ],
    });
    const clientRequest = request({
      port: started.port,
      path: "/console",
      method: "DELETE",
      agent: false,
      headers: { cookie: "session=a%20session", "content-length": "2" },
    });
    clientRequest.on("error", () => responsePromise.push("none"));
    clientRequest.write("{");
    await waitUntil("the caller is identified", () => started.getIntrospectionCount() === 1);
    clientRequest.destroy();
    await waitUntil("the request is counted", async () =>
      /http_response_status_code="499"/.test(await started.metrics.metrics()),
    );
    // The server handles a later request after this one.
    const laterHeaders = { cookie: "session=a%20session" };
    await sendRequest({
      port: started.port,
      path: "/console",
      method: "DELETE",
      headers: laterHeaders,
    });
    expect(handledRequests).toEqual(["deleted"]);
  });

  test("is rejected immediately if it is too large, even on a route that reads no body", async () => {
    const { port } = await startTestApp();
    const clientRequest = request({
      port,
      path: "/console",
      method: "POST",
      agent: false,
      headers: { cookie: "session=a%20session", "transfer-encoding": "chunked" },
    });
    const status = new Promise<number | undefined>((resolve, reject) => {
      clientRequest.on("response", (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      clientRequest.on("error", reject);
    });
    for (let chunkIndex = 0; chunkIndex < 5; chunkIndex += 1)
      clientRequest.write("x".repeat(16 * 1024));
    expect(await status).toBe(413);
    clientRequest.destroy();
  });
});

describe("the buckets of a call (rule API-21)", () => {
  test("an uncached key uses the address's bucket, then its own; a cached one uses both in one request", async () => {
    const { port, requestedBuckets } = await startTestApp();
    await sendCreate(port, { "x-api-key": apiKey });
    await sendCreate(port, { "x-api-key": apiKey });
    expect(requestedBuckets).toEqual([
      [addressBucketName],
      ["key bucket_1"],
      ["key bucket_1", addressBucketName],
    ]);
  });

  test("an unknown, mistyped or missing key uses only the address's bucket (rule API-22)", async () => {
    const { port, requestedBuckets, getIntrospectionCount } = await startTestApp();
    await sendCreate(port, { "x-api-key": unknownKey });
    await sendCreate(port, { "x-api-key": "plk_live_typo" });
    await sendCreate(port);
    expect(requestedBuckets).toEqual([
      [addressBucketName],
      [addressBucketName],
      [addressBucketName],
    ]);
    expect(getIntrospectionCount()).toBe(1);
  });

  test("a key without the scope uses both as well", async () => {
    const { port, requestedBuckets } = await startTestApp();
    await sendCreate(port, { "x-api-key": readOnlyKey });
    await sendCreate(port, { "x-api-key": readOnlyKey });
    expect(requestedBuckets[2]).toEqual(["key bucket_2", addressBucketName]);
  });

  test("rotated keys share one bucket (rule API-22)", async () => {
    const { port } = await startTestApp({ perKey: { tokensPerSecond: 1, burst: 2 } });
    expect((await sendCreate(port, { "x-api-key": apiKey })).status).toBe(200);
    expect((await sendCreate(port, { "x-api-key": rotatedKey })).status).toBe(200);
    expect((await sendCreate(port, { "x-api-key": apiKey })).status).toBe(429);
    expect((await sendCreate(port, { "x-api-key": rotatedKey })).status).toBe(429);
  });

  test("an address over its limit causes no request to auth-keys", async () => {
    const { port, getIntrospectionCount } = await startTestApp({
      perAddress: { tokensPerSecond: 1, burst: 1 },
    });
    await sendCreate(port);
    expect((await sendCreate(port, { "x-api-key": apiKey })).status).toBe(429);
    expect(getIntrospectionCount()).toBe(0);
  });

  test("public and console routes use the address's bucket", async () => {
    const { port, requestedBuckets } = await startTestApp();
    await sendRequest({ port, path: "/public" });
    await sendRequest({ port, path: "/console" });
    expect(requestedBuckets).toEqual([[addressBucketName], [addressBucketName]]);
  });

  test("a route with its own bucket uses that one, with a multiple of the address's limit (rule API-21)", async () => {
    const { port, requestedBuckets } = await startTestApp({
      perAddress: { tokensPerSecond: 0.001, burst: 2 },
    });
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      statuses.push((await sendRequest({ port, path: "/file" })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
    expect((await sendRequest({ port, path: "/public" })).status).toBe(200);
    expect(requestedBuckets[0]).toEqual(["files 127.0.0.1"]);
  });
});

describe("the rate-limit headers (rule API-22)", () => {
  const limits = {
    perKey: { tokensPerSecond: 1, burst: 3 },
    perAddress: { tokensPerSecond: 2, burst: 10 },
  };
  const summarizeHeaders = ({ status, headers }: TestResponse) => ({
    status,
    policy: headers["ratelimit-policy"],
    limit: headers["ratelimit"],
    retryAfter: headers["retry-after"],
  });
  const policyHeader = '"key";q=3;w=3, "ip";q=10;w=5';

  test("are on every limited response, cached or not, rejected or not; Retry-After is on 429 only", async () => {
    const { port, clock } = await startTestApp(limits);
    const headers = { "x-api-key": apiKey };
    expect(summarizeHeaders(await sendCreate(port, headers))).toEqual({
      status: 200,
      policy: policyHeader,
      limit: '"key";r=2;t=1, "ip";r=9;t=1',
      retryAfter: undefined,
    });
    expect(summarizeHeaders(await sendCreate(port, headers))).toEqual({
      status: 200,
      policy: policyHeader,
      limit: '"key";r=1;t=2, "ip";r=8;t=1',
      retryAfter: undefined,
    });
    expect(summarizeHeaders(await sendCreate(port, headers, "{"))).toMatchObject({
      status: 422,
      policy: policyHeader,
    });
    expect(summarizeHeaders(await sendCreate(port, headers))).toEqual({
      status: 429,
      policy: policyHeader,
      limit: expect.stringMatching(/^"key";r=0;t=1, "ip";r=7;t=\d$/),
      retryAfter: "1",
    });
    clock.advance(1000);
    expect((await sendCreate(port, headers)).status).toBe(200);
  });

  test("list both buckets and the retry time for an uncached key whose own bucket is empty", async () => {
    const { port, clock } = await startTestApp({
      ...limits,
      perKey: { tokensPerSecond: 0.1, burst: 1 },
    });
    await sendCreate(port, { "x-api-key": apiKey });
    clock.advance(5001);
    const response = await sendCreate(port, { "x-api-key": apiKey });
    expect(getErrorCodes(response)).toBe("429");
    expect(summarizeHeaders(response)).toEqual({
      status: 429,
      policy: '"key";q=1;w=10, "ip";q=10;w=5',
      limit: expect.stringMatching(/^"key";r=0;t=5, "ip";r=9;t=1$/),
      retryAfter: "5",
    });
  });

  test("are on responses of routes without a key as well, for the address only", async () => {
    const { port } = await startTestApp(limits);
    for (const path of ["/public", "/console"]) {
      const { headers } = await sendRequest({ port, path });
      expect(headers["ratelimit-policy"]).toBe('"ip";q=10;w=5');
      expect(headers["ratelimit"]).toMatch(/^"ip";r=[89];t=1$/);
    }
    expect((await sendCreate(port)).headers["ratelimit-policy"]).toBe('"ip";q=10;w=5');
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
  ])("given %j, returns %i", async (headers, expectedStatus, code) => {
    const { port } = await startTestApp();
    const response = await sendRequest({ port, path: "/console", headers });
    expect(response.status).toBe(expectedStatus);
    if (code !== undefined) expect(getErrorCodes(response)).toBe(code);
  });
});
