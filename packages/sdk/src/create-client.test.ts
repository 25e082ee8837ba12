import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type PaymentLinksOptions, createClient } from "./create-client.ts";
import { NoAnswerError, PaymentLinksError } from "./errors.ts";
import { systemRuntime } from "./runtime.ts";

type RecordedRequest = { requestLine: string; headers: IncomingMessage["headers"]; body: string };
type Responder = (res: ServerResponse, request: RecordedRequest) => void;

const createdLink = { id: "plink_1", url: "https://pay.example.com/@a/pay/plink_1" };

/** Starts a server that uses one responder per request, in order, and repeats the last one. */
const startServer = async () => {
  const requests: RecordedRequest[] = [];
  let responders: Responder[] = [];
  const server = createServer((req, res) => {
    const handleRequest = async () => {
      const body = Buffer.concat((await req.toArray()) as Buffer[]).toString();
      const request = { requestLine: `${req.method} ${req.url}`, headers: req.headers, body };
      requests.push(request);
      (responders.length > 1 ? responders.shift() : responders[0])?.(res, request);
    };
    void handleRequest();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    respondWith: (...nextResponders: Responder[]) => void (responders = nextResponders),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}): Responder =>
  (res) =>
    void res.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));

const respondWithError = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Responder => respond(status, { errors: [{ code, message: "For people." }] }, headers);

/** Closes the connection without a response. */
const dropConnection: Responder = (res) => void res.destroy();
/** Leaves the request pending without a response. */
const neverRespond: Responder = () => {};

let server: Awaited<ReturnType<typeof startServer>>;
let waitedMs: number[] = [];

beforeEach(async () => {
  server = await startServer();
  waitedMs = [];
});
afterEach(() => server.close());

const createTestClient = (options: Partial<PaymentLinksOptions> = {}, random = 0) => {
  let keyCount = 0;
  return createClient(
    { url: server.url, apiKey: "plk_1", ...options },
    {
      wait: async (ms) => void waitedMs.push(ms),
      random: () => random,
      newIdempotencyKey: () => `drawn-${++keyCount}`,
      now: () => performance.now(),
    },
  );
};

const catchError = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("createPaymentLink", () => {
  test("sends the API key, the amount as text and an idempotency key", async () => {
    server.respondWith(respond(200, createdLink));
    const link = { toAmount: "0.1", description: "é 💶", maxUsage: undefined };
    expect(await createTestClient().createPaymentLink(link)).toEqual(createdLink);
    const [request] = server.requests;
    expect(request?.requestLine).toBe("POST /v1/payment-link");
    expect(JSON.parse(request?.body ?? "")).toEqual({ toAmount: "0.1", description: "é 💶" });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": "drawn-1",
      "x-api-key": "plk_1",
    });
  });

  test("retries with the same bytes and idempotency key, and uses a new key for the next call", async () => {
    server.respondWith(
      dropConnection,
      respondWithError(500, "CANNOT_CREATE_PAYMENT_LINK"),
      respond(200, createdLink),
    );
    const client = createTestClient();
    expect(await client.createPaymentLink({ toAmount: "25" })).toEqual(createdLink);
    expect(server.requests).toHaveLength(3);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    await client.createPaymentLink({ toAmount: "25" });
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([
      "drawn-1",
      "drawn-1",
      "drawn-1",
      "drawn-2",
    ]);
  });

  test("uses the caller's idempotency key and includes it in the error when no response arrives", async () => {
    server.respondWith(dropConnection);
    const pendingCreate = createTestClient().createPaymentLink(
      { toAmount: "25" },
      { idempotencyKey: "order-1001" },
    );
    const error = await catchError(pendingCreate);
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ idempotencyKey: "order-1001" });
    expect((error as Error).cause).toBeInstanceOf(Error);
    expect((error as Error).message).toContain(server.url);
  });

  test("warns once about each ignored field, and a failing callback fails no call (rule API-43)", async () => {
    const header = { "Payment-Links-Ignored-Fields": "max_usage, success_url, <b>" };
    server.respondWith(
      respond(200, createdLink, header),
      respond(200, createdLink, { "Payment-Links-Ignored-Fields": "max_usage, currency" }),
      respond(200, createdLink),
    );
    const warnings: string[] = [];
    const client = createTestClient({
      onWarning: (message) => {
        warnings.push(message);
        throw new Error("the logger fails");
      },
    });
    for (let count = 0; count < 3; count += 1)
      expect(await client.createPaymentLink({ toAmount: "25" })).toEqual(createdLink);
    expect(server.requests).toHaveLength(3);
    expect(warnings.map((message) => /"(.*)"/.exec(message)?.[1])).toEqual([
      "max_usage",
      "success_url",
      "currency",
    ]);
  });

  const ambiguousOutcomes: [string, Responder[], object][] = [
    ["a proxy's 504 on every try", [respond(504, "<html>")], { status: 504 }],
    [
      "no response and then an error",
      [dropConnection, respondWithError(401, "INVALID_API_KEY")],
      { status: 401 },
    ],
    [
      "no response and then a `Retry-After` that is too long",
      [dropConnection, respondWithError(429, "429", { "Retry-After": "61" })],
      { status: 429 },
    ],
  ];
  test.each(ambiguousOutcomes)(
    "includes the idempotency key in the error when the link may exist: %s",
    async (_how, responders, expected) => {
      server.respondWith(...responders);
      const error = await catchError(createTestClient().createPaymentLink({ toAmount: "25" }));
      expect(error).toBeInstanceOf(PaymentLinksError);
      expect(error).toMatchObject({ ...expected, idempotencyKey: "drawn-1" });
    },
  );

  test.each([25, 0.1, undefined, null, 25n])(
    "rejects the amount %p without sending a request",
    async (toAmount) => {
      const pendingCreate = createTestClient().createPaymentLink({
        toAmount: toAmount as unknown as string,
      });
      await expect(pendingCreate).rejects.toThrow(TypeError);
      expect(server.requests).toEqual([]);
    },
  );

  test.each<unknown>([
    "",
    " a",
    "a ",
    "é",
    "a\nb",
    "a".repeat(256),
    { order: 1 },
    Number.NaN,
    null,
  ])("rejects the idempotency key %p without sending a request", async (invalidValue) => {
    const idempotencyKey = invalidValue as string;
    const pendingCreate = createTestClient().createPaymentLink(
      { toAmount: "1" },
      { idempotencyKey },
    );
    await expect(pendingCreate).rejects.toThrow(TypeError);
    expect(server.requests).toEqual([]);
  });
});

describe("retries (rule ERROR-4)", () => {
  const retryableResponses: [string, Responder][] = [
    ["the connection was closed", dropConnection],
    ["429", respondWithError(429, "429")],
    ["408", respondWithError(408, "REQUEST_TIMEOUT")],
    ["500", respondWithError(500, "INTERNAL_ERROR")],
    ["503", respondWithError(503, "SERVICE_UNAVAILABLE")],
    ["a proxy responded with 502", respond(502, "<html>Bad Gateway</html>")],
    ["the first try was still in progress", respondWithError(409, "IDEMPOTENCY_KEY_IN_USE")],
    ["a 200 response without JSON", respond(200, "<html>")],
  ];
  test.each(retryableResponses)(
    "sends the call again after this failure: %s",
    async (_why, firstResponder) => {
      server.respondWith(firstResponder, respond(200, createdLink));
      expect(await createTestClient().createPaymentLink({ toAmount: "25" })).toEqual(createdLink);
      expect(waitedMs).toEqual([1_000]);
    },
  );

  test("retries CANNOT_FIND_PAYMENT_LINK for a list, but not for a single link", async () => {
    const listError = respondWithError(404, "CANNOT_FIND_PAYMENT_LINK");
    server.respondWith(listError, respond(200, { data: [], nextOffset: null }));
    expect(await createTestClient().listPaymentLinks()).toMatchObject({ data: [] });
    server.respondWith(listError);
    expect(await catchError(createTestClient().retrievePaymentLink("plink_1"))).toMatchObject({
      status: 404,
    });
    expect(server.requests).toHaveLength(3);
  });

  test("stops after five tries and doubles the wait each time, plus jitter", async () => {
    server.respondWith(respondWithError(503, "SERVICE_UNAVAILABLE"));
    const error = await catchError(createTestClient({}, 0.4).retrievePaymentLink("plink_1"));
    expect(error).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(server.requests).toHaveLength(5);
    expect(waitedMs).toEqual([1_100, 2_200, 4_400, 8_800]);
  });

  test("stops after `triesMax` tries", async () => {
    server.respondWith(dropConnection);
    await catchError(createTestClient({ triesMax: 1 }).retrievePaymentLink("plink_1"));
    expect(server.requests).toHaveLength(1);
  });

  test("waits as long as `Retry-After` says, and gives up if that is more than a minute", async () => {
    server.respondWith(
      respondWithError(429, "429", { "Retry-After": "7" }),
      respond(200, createdLink),
    );
    await createTestClient().createPaymentLink({ toAmount: "1" });
    expect(waitedMs).toEqual([7_000]);
    server.respondWith(respondWithError(429, "429", { "Retry-After": "61" }));
    const error = await catchError(createTestClient().createPaymentLink({ toAmount: "1" }));
    expect(error).toMatchObject({ status: 429, code: "429" });
    expect(waitedMs).toEqual([7_000]);
  });

  test("waits until a `Retry-After` date, and gives up if that is more than a minute away", async () => {
    const httpDateIn = (ms: number) => new Date(Date.now() + ms).toUTCString();
    server.respondWith(
      respondWithError(503, "SERVICE_UNAVAILABLE", { "Retry-After": httpDateIn(50_000) }),
      respond(200, createdLink),
    );
    await createTestClient().createPaymentLink({ toAmount: "1" });
    // The header has a resolution of one second, and the client reads it after some time.
    expect(waitedMs[0]).toBeGreaterThan(10_000);
    expect(waitedMs[0]).toBeLessThanOrEqual(50_000);
    server.respondWith(
      respondWithError(503, "SERVICE_UNAVAILABLE", { "Retry-After": httpDateIn(300_000) }),
    );
    await catchError(createTestClient().createPaymentLink({ toAmount: "1" }));
    server.respondWith(
      respondWithError(503, "SERVICE_UNAVAILABLE", { "Retry-After": httpDateIn(-50_000) }),
      respond(200, createdLink),
    );
    await createTestClient().createPaymentLink({ toAmount: "1" });
    expect(waitedMs.slice(1)).toEqual([1_000]);
  });

  test("waits at most a minute between tries", async () => {
    server.respondWith(respondWithError(500, "INTERNAL_ERROR"));
    await catchError(createTestClient({ triesMax: 9 }).retrievePaymentLink("plink_1"));
    expect(server.requests).toHaveLength(9);
    expect(waitedMs).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  });

  test("retries after a timeout", async () => {
    // The second attempt has the same timeout, so the timeout must be much longer than a response
    // takes.
    const provokedTimeoutMs = 1_000;
    server.respondWith(neverRespond, respond(200, createdLink));
    expect(
      await createTestClient({ timeoutMs: provokedTimeoutMs }).createPaymentLink({ toAmount: "1" }),
    ).toEqual(createdLink);
    expect(server.requests).toHaveLength(2);
  });
});

describe("an error response", () => {
  test.each([
    [401, "INVALID_API_KEY"],
    [403, "INSUFFICIENT_API_SCOPE"],
    [409, "PAYMENT_LINK_ACCOUNT_NOT_READY"],
    [422, "greater_than"],
  ])("with status %d is not retried: %s", async (status, code) => {
    server.respondWith(respondWithError(status, code, { "X-Request-Id": "req_1" }));
    const error = await catchError(createTestClient().createPaymentLink({ toAmount: "1" }));
    expect(error).toBeInstanceOf(PaymentLinksError);
    expect(error).toMatchObject({ status, code, requestId: "req_1" });
    expect(error).toMatchObject({ message: `${code}: For people. (request req_1)` });
    expect([server.requests.length, waitedMs]).toEqual([1, []]);
  });

  test("lists all problems of a failed validation", async () => {
    const errors = ["missing", "string_too_long"].map((code) => ({ code, message: "For people." }));
    server.respondWith(respond(422, { errors }));
    const error = await catchError(createTestClient().createPaymentLink({ toAmount: "1" }));
    expect(error).toMatchObject({ code: "missing", problems: errors, requestId: undefined });
  });

  test("from a proxy gets its code from the status", async () => {
    const foreignBodies = ["<html>", "null", { errors: "all" }, { errors: [{ code: 7 }] }];
    for (const body of foreignBodies) {
      server.respondWith(respond(403, body));
      const error = await catchError(createTestClient().retrievePaymentLink("plink_1"));
      expect(error).toMatchObject({ status: 403, code: "HTTP_403", problems: [] });
      // Usually the URL is wrong, for example that of the shop itself.
      expect((error as Error).message).toBe(
        `HTTP_403: The response from ${server.url} is not from Payment Links. Check the \`url\` of createPaymentLinks.`,
      );
    }
  });

  test("is also a redirect, so that the API key never reaches another origin", async () => {
    const otherServer = await startServer();
    try {
      server.respondWith(respond(307, "", { Location: `${otherServer.url}/v1/payment-link` }));
      const error = await catchError(createTestClient().createPaymentLink({ toAmount: "1" }));
      expect(error).toMatchObject({ status: 307, code: "HTTP_307" });
      expect(otherServer.requests).toEqual([]);
    } finally {
      await otherServer.close();
    }
  });
});

describe("an abort signal", () => {
  test("ends a call in progress with its reason and without a retry", async () => {
    const reason = new Error("the visitor left");
    const controller = new AbortController();
    server.respondWith(() => controller.abort(reason));
    const pendingLink = createTestClient().retrievePaymentLink("plink_1", {
      signal: controller.signal,
    });
    expect(await catchError(pendingLink)).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test("ends the real wait between two tries", async () => {
    const controller = new AbortController();
    const reason = new Error("the visitor left");
    server.respondWith(respondWithError(429, "429"));
    const wait: typeof systemRuntime.wait = (_ms, signal) => {
      const pendingWait = systemRuntime.wait(3_600_000, signal);
      controller.abort(reason);
      return pendingWait;
    };
    const client = createClient({ url: server.url }, { ...systemRuntime, wait });
    const pendingLink = client.retrievePaymentLink("plink_1", { signal: controller.signal });
    expect(await catchError(pendingLink)).toBe(reason);
  });

  test("has no listeners left after a call", async () => {
    const { signal } = new AbortController();
    const activeListeners = new Set<unknown>();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...listenerArguments: Parameters<typeof add>) => {
      activeListeners.add(listenerArguments[1]);
      add(...listenerArguments);
    };
    signal.removeEventListener = (...listenerArguments: Parameters<typeof remove>) => {
      activeListeners.delete(listenerArguments[1]);
      remove(...listenerArguments);
    };
    server.respondWith(dropConnection, respond(200, { id: "plink_1" }));
    await createTestClient().retrievePaymentLink("plink_1", { signal });
    expect(activeListeners.size).toBe(0);
    server.respondWith(respond(200, { id: "plink_1" }));
    expect(await createTestClient().retrievePaymentLink("plink_1", { signal: null })).toEqual({
      id: "plink_1",
    });
  });

  test("ends a call before it starts", async () => {
    const reason = new Error("too late");
    const signal = AbortSignal.abort(reason);
    expect(await catchError(createTestClient().retrievePaymentLink("plink_1", { signal }))).toBe(
      reason,
    );
    await expect(systemRuntime.wait(60_000, signal)).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });
});

test("systemRuntime waits, and generates random numbers and unique keys", async () => {
  await systemRuntime.wait(1, undefined);
  await systemRuntime.wait(1, new AbortController().signal);
  expect(systemRuntime.random()).toBeLessThan(1);
  expect(systemRuntime.now()).toBeLessThanOrEqual(systemRuntime.now());
  expect(systemRuntime.newIdempotencyKey()).not.toBe(systemRuntime.newIdempotencyKey());
});

describe("reading links", () => {
  test("requests a link by its percent-encoded id, without an API key", async () => {
    server.respondWith(respond(200, { id: "plink_1" }));
    await createTestClient({ apiKey: undefined }).retrievePaymentLink("../a?b");
    expect(server.requests[0]?.requestLine).toBe("GET /v1/payment-link/..%2Fa%3Fb");
    expect(server.requests[0]?.headers).not.toHaveProperty("x-api-key");
    expect(server.requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test.each<unknown>(["", ".", "..", undefined])(
    "rejects the link id %p without sending a request",
    async (id) => {
      await expect(createTestClient().retrievePaymentLink(id as string)).rejects.toThrow(TypeError);
      expect(server.requests).toEqual([]);
    },
  );

  test("sends the filter as query parameters", async () => {
    server.respondWith(respond(200, { data: [], nextOffset: null }));
    const client = createTestClient();
    await client.listPaymentLinks({ status: "completed", offset: 20 });
    await client.listPaymentLinks({ status: undefined });
    expect(server.requests.map(({ requestLine }) => requestLine)).toEqual([
      "GET /v1/payment-link?status=completed&offset=20",
      "GET /v1/payment-link?",
    ]);
  });

  /**
   * Serves a list, newest first. Before each page after the first, `addedPerPage` new links are
   * added to it.
   */
  const serveGrowingList = (count: number, addedPerPage: number) => {
    const ids = Array.from({ length: count }, (_, index) => `plink_${count - index}`);
    let pageCount = 0;
    server.respondWith((res, { requestLine }) => {
      const addedCount = pageCount === 0 ? 0 : addedPerPage;
      for (let n = 0; n < addedCount; n += 1) ids.unshift(`plink_new_${pageCount}_${n}`);
      pageCount += 1;
      const offset = Number(new URL(requestLine.slice(4), server.url).searchParams.get("offset"));
      const data = ids.slice(offset, offset + 10).map((id) => ({ id }));
      const nextOffset = offset + 10 < ids.length ? offset + 10 : null;
      respond(200, { data, nextOffset })(res, { requestLine, headers: {}, body: "" });
    });
    return [...ids];
  };

  test("yields each link once while new links are created", async () => {
    const ids = serveGrowingList(35, 3);
    const receivedIds: string[] = [];
    for await (const { id } of createTestClient().eachPaymentLink()) receivedIds.push(id);
    expect(receivedIds).toEqual(ids);
  });

  test("stops requesting pages when the loop ends early", async () => {
    serveGrowingList(35, 0);
    for await (const { id } of createTestClient().eachPaymentLink({ status: "active" })) {
      if (id === "plink_24") break;
    }
    expect(server.requests.map(({ requestLine }) => requestLine)).toEqual([
      "GET /v1/payment-link?status=active&offset=0",
      "GET /v1/payment-link?status=active&offset=10",
    ]);
  });
});

describe("option validation", () => {
  test.each([
    "pay.example.com",
    "ftp://pay.example.com",
    "https://pay.example.com/v1",
    "https://pay.example.com/?a=b",
    "https://pay.example.com/#a",
    "https://a:b@pay.example.com",
    "",
  ])("rejects the origin %p", (url) => {
    expect(() => createTestClient({ url })).toThrow(TypeError);
  });

  test("rejects an API key with a line break, without showing it in the error", () => {
    expect(() => createTestClient({ apiKey: "plk_secret\n" })).toThrow(/^apiKey must be/);
    expect(() => createTestClient({ apiKey: "" })).toThrow(TypeError);
    expect(() => createTestClient({ apiKey: null as unknown as string })).toThrow(TypeError);
  });

  test("rejects an API key given as the URL, without showing it in the error", () => {
    expect(() => createTestClient({ url: "plk_secret" })).toThrow(/^url must be/);
  });

  test.each<unknown>([0, -1, 1.5, Number.NaN, Infinity, 1e9, "5"])(
    "rejects %p as `timeoutMs` or `triesMax`",
    (invalidValue) => {
      expect(() => createTestClient({ timeoutMs: invalidValue as number })).toThrow(TypeError);
      expect(() => createTestClient({ triesMax: invalidValue as number })).toThrow(TypeError);
    },
  );

  test("accepts an origin with a trailing slash", async () => {
    server.respondWith(respond(200, { id: "plink_1" }));
    await createTestClient({ url: new URL(server.url) }).retrievePaymentLink("plink_1");
    expect(server.requests[0]?.requestLine).toBe("GET /v1/payment-link/plink_1");
  });
});
