import { once } from "node:events";
import { connect } from "node:net";
import { mock } from "node:test";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { generateApiKey, createApiError } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sendJson } from "./send-json.ts";
import { readBodyBytes } from "./parse-request.ts";
import { keyRoute, publicRoute } from "./route.ts";
import { sendRequest, sendRaw, getErrorCodes } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

/** More bytes than the kernel buffers for one connection. */
const largeResponseBytes = 30 * 1024 * 1024;

const routes = [
  publicRoute({ method: "get", path: "/things", handle: (_req, res) => void res.json({ ok: 1 }) }),
  publicRoute({ method: "post", path: "/things", handle: (_req, res) => void res.json({}) }),
  publicRoute({ method: "patch", path: "/things/:id", handle: (_req, res) => void res.json({}) }),
  publicRoute({ method: "delete", path: "/things/:id", handle: (_req, res) => void res.json({}) }),
  publicRoute({
    method: "get",
    path: "/refused",
    handle: () => Promise.reject(createApiError("PAYMENT_LINK_NOT_ACTIVE")),
  }),
  publicRoute({
    method: "get",
    path: "/open",
    isForAnyOrigin: true,
    handle: () => Promise.reject(createApiError("PAYMENT_LINK_NOT_ACTIVE")),
  }),
  publicRoute({
    method: "get",
    path: "/broken",
    handle: () => {
      throw new Error("password hunter2 in a message");
    },
  }),
  publicRoute({
    method: "get",
    path: "/broken-list",
    unexpectedError: "CANNOT_FIND_PAYMENT_LINK",
    handle: () => Promise.reject(new TypeError("lost")),
  }),
  publicRoute({
    method: "get",
    path: "/page",
    sendApiError: (apiError, _req, res) => void res.status(apiError.status).send("<h1>No</h1>"),
    handle: () => Promise.reject(createApiError("NOT_FOUND")),
  }),
  publicRoute({
    method: "get",
    path: "/half",
    handle: async (_req, res) => {
      res.write("half of it");
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("failed half-way");
    },
  }),
  publicRoute({
    method: "get",
    path: "/whole",
    handle: async (_req, res) => {
      res.end(Buffer.alloc(largeResponseBytes, "x"));
      throw new Error("failed after the answer");
    },
  }),
];

const responseMsMax = provokedTimeoutMs(50);
/** No other timer in the process uses this delay. */
const uploadResponseMsMax = 3_600_123;
/** How often a request is checked for completeness. */
const completionPollMs = 50;
const uploadCompletion = Promise.withResolvers<void>();
const slowRoutes = [
  publicRoute({
    method: "get",
    path: "/late",
    responseMsMax,
    handle: async (_req, res) => {
      await new Promise((resolve) => res.once("close", resolve));
      sendJson(res, 200, { late: true });
    },
  }),
  publicRoute({
    method: "get",
    path: "/late-list",
    responseMsMax,
    unexpectedError: "CANNOT_FIND_PAYMENT_LINK",
    handle: () => new Promise(() => {}),
  }),
  publicRoute({
    method: "post",
    path: "/upload",
    responseMsMax: uploadResponseMsMax,
    handle: async (req, res) => {
      const { length } = await readBodyBytes(req);
      await uploadCompletion.promise;
      sendJson(res, 200, { bytes: length });
    },
  }),
];

/** The paths whose handlers have started. Each handler waits until its client has disconnected. */
const startedPaths = new Set<string>();
const createDisconnectRoute = (path: string, error: Error) =>
  publicRoute({
    method: "get",
    path,
    handle: async (_req, res) => {
      const closed = once(res, "close");
      startedPaths.add(path);
      await closed;
      throw error;
    },
  });
const disconnectRoutes = [
  createDisconnectRoute("/left", createApiError("SERVICE_UNAVAILABLE")),
  createDisconnectRoute("/left-broken", new Error("broken after all")),
];

const app = useRig(() => startApp({ routes: [...routes, ...slowRoutes, ...disconnectRoutes] }));
beforeEach(() => void (app.logLines.length = 0));

const sendGet = (path: string, headers: Record<string, string> = {}) =>
  sendRequest({ port: app.port, path, headers });

describe("a request", () => {
  test("gets an id, and the response does not reveal the server software (rule ERROR-1)", async () => {
    const { headers } = await sendGet("/things");
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers).not.toHaveProperty("x-powered-by");
    expect(headers).not.toHaveProperty("etag");
  });

  test("gets its own id, regardless of any id it sends", async () => {
    const { headers } = await sendGet("/things", { "x-request-id": "mine" });
    expect(headers["x-request-id"]).not.toBe("mine");
  });

  test.each(["/nowhere", "/things/1", "/%", "/broken"])(
    "to %s gets an id although it fails (rule ERROR-1)",
    async (path) => {
      expect((await sendGet(path)).headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe("an unknown path", () => {
  test.each([
    "/",
    "/nowhere",
    "/things/1/2",
    "/%",
    "/things%",
    "/%c0%af",
    "//things",
    "/../things",
    "/things;a=b",
    "*",
    `/${"x".repeat(14_000)}`,
    "/?__proto__[a]=b",
  ])("%.20s returns 404 with the envelope (rule ERROR-5)", async (path) => {
    const response = await sendGet(path);
    expect([response.status, getErrorCodes(response)]).toEqual([404, "NOT_FOUND"]);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(app.logLines.join("")).not.toContain('"level":"error"');
  });
});

describe("a method that a path does not support", () => {
  test.each([
    ["DELETE", "/things", "GET, HEAD, POST"],
    ["OPTIONS", "/things", "GET, HEAD, POST"],
    ["PUT", "/things", "GET, HEAD, POST"],
    ["TRACE", "/things", "GET, HEAD, POST"],
    ["GET", "/things/1", "PATCH, DELETE"],
    ["HEAD", "/things/1", "PATCH, DELETE"],
    ["OPTIONS", "/things/1", "PATCH, DELETE"],
    ["POST", "/refused", "GET, HEAD"],
  ])("%s %s returns 405 with Allow: %s (rule ERROR-5)", async (method, path, allowedMethods) => {
    const response = await sendRequest({ port: app.port, method, path });
    expect([response.status, response.headers.allow]).toEqual([405, allowedMethods]);
    if (method !== "HEAD") expect(getErrorCodes(response)).toBe("METHOD_NOT_ALLOWED");
  });

  test.each([
    ["OPTIONS", "/things"],
    ["GET", "/things"],
    ["GET", "/refused"],
    ["GET", "/nowhere"],
  ])("gets no CORS headers, and neither does a supported one: %s %s", async (method, path) => {
    const { headers } = await sendRequest({
      port: app.port,
      method,
      path,
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("a route for any origin sends CORS headers with every response, including errors and preflights", async () => {
    const getCorsHeaders = async (method: string, path: string) => {
      const { status, headers } = await sendRequest({ port: app.port, method, path });
      const names = Object.keys(headers).filter((name) => name.startsWith("access-control"));
      return [status, headers["access-control-allow-origin"], names.length];
    };
    expect(await getCorsHeaders("GET", "/open")).toEqual([409, "*", 1]);
    expect(await getCorsHeaders("OPTIONS", "/open")).toEqual([204, "*", 4]);
    expect(await getCorsHeaders("PATCH", "/open")).toEqual([405, undefined, 0]);
  });

  test("HEAD returns the response to GET without the body", async () => {
    const { status, text, headers } = await sendRequest({
      port: app.port,
      method: "HEAD",
      path: "/things",
    });
    expect([status, text, headers["content-length"]]).toEqual([200, "", "8"]);
  });
});

describe("an error", () => {
  test("that is an ApiError gets its own response and is not logged as an error", async () => {
    const response = await sendGet("/refused");
    expect([response.status, getErrorCodes(response)]).toEqual([409, "PAYMENT_LINK_NOT_ACTIVE"]);
    expect(app.logLines.join("")).not.toContain('"level":"error"');
  });

  test("that is unexpected returns 500 without details, and is logged once with the request id (rule ERROR-1)", async () => {
    const response = await sendGet("/broken");
    expect([response.status, getErrorCodes(response)]).toEqual([500, "INTERNAL_ERROR"]);
    expect(response.text).not.toContain("hunter2");
    const [logLine, ...otherLines] = app.logLines.filter((text) =>
      text.includes('"level":"error"'),
    );
    expect(otherLines).toEqual([]);
    expect(JSON.parse(logLine ?? "")).toMatchObject({
      request_id: response.headers["x-request-id"],
      route: "/broken",
      status: 500,
      err: { type: "Error" },
    });
  });

  test("uses the failure code of its route", async () => {
    const response = await sendGet("/broken-list");
    expect([response.status, getErrorCodes(response)]).toEqual([404, "CANNOT_FIND_PAYMENT_LINK"]);
    expect(app.logLines.join("")).toContain('"level":"error"');
  });

  test("on a page is rendered by the page", async () => {
    const response = await sendGet("/page");
    expect([response.status, response.text]).toEqual([404, "<h1>No</h1>"]);
  });

  test("during a response closes the connection, so that a partial response never looks complete", async () => {
    await expect(sendGet("/half")).rejects.toThrow(/aborted|ECONNRESET|socket hang up/);
    expect(app.logLines.join("")).toContain("failed half-way");
  });

  test("after a complete response is logged, and the response arrives complete", async () => {
    const response = await sendGet("/whole");
    expect(response.text).toHaveLength(largeResponseBytes);
    expect(app.logLines.join("")).toContain("failed after the answer");
  });
});

describe("a response that takes too long", () => {
  test.each([
    ["/late", 503, "SERVICE_UNAVAILABLE"],
    ["/late-list", 404, "CANNOT_FIND_PAYMENT_LINK"],
  ])("is abandoned and logged: %s returns %i %s (rule ERROR-3)", async (path, status, code) => {
    const response = await sendGet(path);
    expect([response.status, getErrorCodes(response)]).toEqual([status, code]);
    expect(app.logLines.join("")).toContain("no response after 50 ms");
    expect((await sendGet("/things")).status).toBe(200);
  });

  test("is timed from the end of the request, not from its start", async () => {
    const setTimeoutMock = mock.method(globalThis, "setTimeout");
    const countTimers = (ms: number) =>
      setTimeoutMock.mock.calls.filter(({ arguments: [, delayMs] }) => delayMs === ms).length;
    const socket = connect(app.port, "127.0.0.1");
    let text = "";
    socket.on("data", (bytes) => (text += bytes.toString()));
    socket.write("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
    await waitUntil(
      "the incomplete body is checked again",
      () => countTimers(completionPollMs) > 2,
    );
    expect(countTimers(uploadResponseMsMax)).toBe(0);
    socket.write("cd");
    await waitUntil("the response timer starts", () => countTimers(uploadResponseMsMax) === 1);
    setTimeoutMock.mock.restore();
    uploadCompletion.resolve();
    await waitUntil("the response arrives", () => text.includes("}"));
    socket.destroy();
    expect(text).toContain('{"bytes":4}');
  });
});

describe("a response whose client has disconnected", () => {
  const disconnect = async (path: string) => {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await waitUntil("the request arrives", () => startedPaths.delete(path));
    socket.destroy();
    await waitUntil("the request is logged", () =>
      app.logLines.some((logLine) => logLine.includes("request completed")),
    );
    return app.logLines.join("");
  };

  test("is not logged as an error if it is an API error, even SERVICE_UNAVAILABLE", async () => {
    const text = await disconnect("/left");
    expect(text).toContain("client disconnected");
    expect(text).toMatch(/"status":499,"msg":"request completed"/);
    expect(text).not.toContain('"level":"error"');
  });

  test("is logged as an error if the fault is ours", async () => {
    const text = await disconnect("/left-broken");
    expect(text).toContain('"level":"error"');
    expect(text).toContain("broken after all");
  });
});

describe("secrets", () => {
  let secretApp: StartedApp;
  const apiKey = generateApiKey("live");
  afterEach(() => secretApp.close());

  test("never appear in logs or metrics, whatever fails and wherever they were sent (rule KEEP-7)", async () => {
    secretApp = await startApp({
      routes: [
        keyRoute({
          method: "get",
          path: "/secret/:id",
          scope: "payment_link:read",
          handle: (req) => {
            throw Object.assign(new Error("the query failed"), { request: req });
          },
        }),
      ],
      credentials: { [apiKey]: { scopes: ["payment_link:read"] } },
      logLevel: "trace",
    });
    const unknownKey = generateApiKey("test");
    const cookie = "session=cookie-hunter2";
    for (const sentKey of [apiKey, unknownKey, `${apiKey}x`]) {
      await sendRequest({
        port: secretApp.port,
        path: `/secret/${apiKey}?key=${apiKey}`,
        headers: { "x-api-key": sentKey, cookie, authorization: `Bearer ${apiKey}` },
      });
    }
    const text = secretApp.logLines.join("") + (await secretApp.metrics.metrics());
    expect(text).toContain("the query failed");
    for (const secret of [apiKey, unknownKey, "hunter2"]) expect(text).not.toContain(secret);
  });
});

describe("a malformed request", () => {
  const parseStatusAndCode = (response: string): string => {
    const [headText = "", bodyText = ""] = response.split("\r\n\r\n");
    const { errors } = JSON.parse(bodyText) as { errors: { code: string }[] };
    expect(headText).toContain("Connection: close");
    expect(headText).toContain(`Content-Length: ${bodyText.length}`);
    expect(headText).toContain("X-Content-Type-Options: nosniff");
    expect(headText).toContain("Cache-Control: no-store");
    return `${headText.split("\r\n")[0]} ${errors.map((entry) => entry.code).join(" ")}`;
  };

  test.each([
    ["text", "hello\r\n\r\n", "HTTP/1.1 400 Bad Request BAD_REQUEST"],
    ["no host", "GET /things HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request BAD_REQUEST"],
    [
      "no host, followed by another request",
      "GET /things HTTP/1.1\r\n\r\nGET /things HTTP/1.1\r\nHost: a\r\n\r\n",
      "HTTP/1.1 400 Bad Request BAD_REQUEST",
    ],
    [
      "two lengths",
      "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 400 Bad Request BAD_REQUEST",
    ],
    [
      "a length and chunks, as in request smuggling",
      "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 400 Bad Request BAD_REQUEST",
    ],
    [
      "a path of 20 kB",
      `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      "HTTP/1.1 431 Request Header Fields Too Large REQUEST_HEADERS_TOO_LARGE",
    ],
    [
      "headers of 20 kB",
      `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${"x".repeat(20_000)}\r\n\r\n`,
      "HTTP/1.1 431 Request Header Fields Too Large REQUEST_HEADERS_TOO_LARGE",
    ],
  ])("with %s is rejected, and the connection ends", async (_name, responseText, expected) => {
    expect(parseStatusAndCode(await sendRaw(app.port, responseText))).toBe(expected);
  });

  // RFC 9110, section 10.1.1 permits a rejection, but then a call that the server can handle would
  // fail.
  test("an unknown expectation does not stop a request", async () => {
    const text = "GET /things HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n";
    expect(await sendRaw(app.port, text)).toContain("HTTP/1.1 200 OK");
  });
});

describe("the default headers of every response", () => {
  const routes = [
    publicRoute({ method: "get", path: "/data", handle: (_req, res) => sendJson(res, 200, {}) }),
    publicRoute({
      method: "get",
      path: "/none",
      handle: (_req, res) => void res.status(204).end(),
    }),
  ];
  const paths = ["/data", "/none", "/nowhere", "/data/%ff"];

  test.each([
    ["http://127.0.0.1", undefined],
    ["https://pay.example", "max-age=31536000"],
  ])("on %s: no type sniffing, no caching, and HSTS %s (rule ERROR-6)", async (baseUrl, hsts) => {
    const started = await startApp({ routes, baseUrl });
    try {
      for (const path of paths) {
        const { headers } = await sendRequest({ port: started.port, path });
        expect([path, headers["x-content-type-options"]]).toEqual([path, "nosniff"]);
        expect([path, headers["strict-transport-security"]]).toEqual([path, hsts]);
        expect([path, headers["cache-control"]]).toEqual([path, "no-store"]);
      }
      const postResponse = await sendRequest({
        port: started.port,
        path: "/data",
        method: "POST",
      });
      expect([postResponse.status, postResponse.headers["x-content-type-options"]]).toEqual([
        405,
        "nosniff",
      ]);
    } finally {
      await started.close();
    }
  });
});
