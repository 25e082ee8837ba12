import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type PaymentLinksOptions, createClient } from "./create-client.ts";
import { NoAnswerError, PaymentLinksError } from "./errors.ts";
import { systemWorld } from "./world.ts";

type Asked = { line: string; headers: IncomingMessage["headers"]; body: string };
type Answer = (res: ServerResponse, asked: Asked) => void;

const made = { id: "plink_1", url: "https://pay.example.com/@a/pay/plink_1" };

/** A server that answers one request after the other as it is told, the last answer again and again. */
const openServer = async () => {
  const asked: Asked[] = [];
  let answers: Answer[] = [];
  const server = createServer((req, res) => {
    const answer = async () => {
      const body = Buffer.concat((await req.toArray()) as Buffer[]).toString();
      const one = { line: `${req.method} ${req.url}`, headers: req.headers, body };
      asked.push(one);
      (answers.length > 1 ? answers.shift() : answers[0])?.(res, one);
    };
    void answer();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    will: (...next: Answer[]) => void (answers = next),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (res) =>
    void res.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));

const refuse = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  answer(status, { errors: [{ code, message: "For people." }] }, headers);

/** The connection ends without an answer. */
const cut: Answer = (res) => void res.destroy();
/** No answer ever comes. */
const keepSilent: Answer = () => {};

let server: Awaited<ReturnType<typeof openServer>>;
let waitedMs: number[] = [];

beforeEach(async () => {
  server = await openServer();
  waitedMs = [];
});
afterEach(() => server.close());

const open = (options: Partial<PaymentLinksOptions> = {}, random = 0) => {
  let drawn = 0;
  return createClient(
    { url: server.url, apiKey: "plk_1", ...options },
    {
      wait: async (ms) => void waitedMs.push(ms),
      random: () => random,
      newKey: () => `drawn-${++drawn}`,
    },
  );
};

const errorOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a create", () => {
  test("is sent with its key, its amount as text and an idempotency key", async () => {
    server.will(answer(200, made));
    const link = { toAmount: "0.1", description: "é 💶", maxUsage: undefined };
    expect(await open().createPaymentLink(link)).toEqual(made);
    const [one] = server.asked;
    expect(one?.line).toBe("POST /v1/payment-link");
    expect(JSON.parse(one?.body ?? "")).toEqual({ toAmount: "0.1", description: "é 💶" });
    expect(one?.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": "drawn-1",
      "x-api-key": "plk_1",
    });
  });

  test("is tried again with the same bytes under the same key, and the next one under another", async () => {
    server.will(cut, refuse(500, "CANNOT_CREATE_PAYMENT_LINK"), answer(200, made));
    const client = open();
    expect(await client.createPaymentLink({ toAmount: "25" })).toEqual(made);
    expect(server.asked).toHaveLength(3);
    expect(new Set(server.asked.map(({ body }) => body)).size).toBe(1);
    await client.createPaymentLink({ toAmount: "25" });
    expect(server.asked.map(({ headers }) => headers["idempotency-key"])).toEqual([
      "drawn-1",
      "drawn-1",
      "drawn-1",
      "drawn-2",
    ]);
  });

  test("takes the order's own idempotency key, and tells it where nobody answered", async () => {
    server.will(cut);
    const create = open().createPaymentLink({ toAmount: "25" }, { idempotencyKey: "order-1001" });
    const error = await errorOf(create);
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ idempotencyKey: "order-1001" });
    expect((error as Error).cause).toBeInstanceOf(Error);
  });

  const lost: [string, Answer[], object][] = [
    ["a proxy's 504, again and again", [answer(504, "<html>")], { status: 504 }],
    ["silence and then a refusal", [cut, refuse(401, "INVALID_API_KEY")], { status: 401 }],
    [
      "silence and then a wait that is too long",
      [cut, refuse(429, "429", { "Retry-After": "61" })],
      { status: 429 },
    ],
  ];
  test.each(lost)("that may have been done tells its key: %s", async (_how, answers, expected) => {
    server.will(...answers);
    const error = await errorOf(open().createPaymentLink({ toAmount: "25" }));
    expect(error).toBeInstanceOf(PaymentLinksError);
    expect(error).toMatchObject({ ...expected, idempotencyKey: "drawn-1" });
  });

  test.each([25, 0.1, undefined, null, 25n])("asks nobody with %p as amount", async (toAmount) => {
    const create = open().createPaymentLink({ toAmount: toAmount as unknown as string });
    await expect(create).rejects.toThrow(TypeError);
    expect(server.asked).toEqual([]);
  });

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
  ])("asks nobody under the idempotency key %p", async (wrong) => {
    const idempotencyKey = wrong as string;
    const create = open().createPaymentLink({ toAmount: "1" }, { idempotencyKey });
    await expect(create).rejects.toThrow(TypeError);
    expect(server.asked).toEqual([]);
  });
});

describe("a call is tried again (rule ERROR-4)", () => {
  const retried: [string, Answer][] = [
    ["the connection was cut", cut],
    ["429", refuse(429, "429")],
    ["408", refuse(408, "REQUEST_TIMEOUT")],
    ["500", refuse(500, "INTERNAL_ERROR")],
    ["503", refuse(503, "SERVICE_UNAVAILABLE")],
    ["a proxy answered 502", answer(502, "<html>Bad Gateway</html>")],
    ["the first try still ran", refuse(409, "IDEMPOTENCY_KEY_IN_USE")],
    ["200 came with something else than JSON", answer(200, "<html>")],
  ];
  test.each(retried)("after %s", async (_why, first) => {
    server.will(first, answer(200, made));
    expect(await open().createPaymentLink({ toAmount: "25" })).toEqual(made);
    expect(waitedMs).toEqual([1_000]);
  });

  test("after a list's own fault, which a link that is not there is not", async () => {
    const fault = refuse(404, "CANNOT_FIND_PAYMENT_LINK");
    server.will(fault, answer(200, { data: [], nextOffset: null }));
    expect(await open().listPaymentLinks()).toMatchObject({ data: [] });
    server.will(fault);
    expect(await errorOf(open().retrievePaymentLink("plink_1"))).toMatchObject({ status: 404 });
    expect(server.asked).toHaveLength(3);
  });

  test("five times at most, each wait twice the one before and some more", async () => {
    server.will(refuse(503, "SERVICE_UNAVAILABLE"));
    const error = await errorOf(open({}, 0.4).retrievePaymentLink("plink_1"));
    expect(error).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(server.asked).toHaveLength(5);
    expect(waitedMs).toEqual([1_100, 2_200, 4_400, 8_800]);
  });

  test("as often as its caller says", async () => {
    server.will(cut);
    await errorOf(open({ triesMax: 1 }).retrievePaymentLink("plink_1"));
    expect(server.asked).toHaveLength(1);
  });

  test("never before `Retry-After`, and not at all where that is beyond a minute", async () => {
    server.will(refuse(429, "429", { "Retry-After": "7" }), answer(200, made));
    await open().createPaymentLink({ toAmount: "1" });
    expect(waitedMs).toEqual([7_000]);
    server.will(refuse(429, "429", { "Retry-After": "61" }));
    const error = await errorOf(open().createPaymentLink({ toAmount: "1" }));
    expect(error).toMatchObject({ status: 429, code: "429" });
    expect(waitedMs).toEqual([7_000]);
  });

  test("not before the date that a proxy tells, if that is within a minute", async () => {
    const inMs = (ms: number) => new Date(Date.now() + ms).toUTCString();
    server.will(
      refuse(503, "SERVICE_UNAVAILABLE", { "Retry-After": inMs(50_000) }),
      answer(200, made),
    );
    await open().createPaymentLink({ toAmount: "1" });
    // The header is of whole seconds, and some time passes until it is read.
    expect(waitedMs[0]).toBeGreaterThan(10_000);
    expect(waitedMs[0]).toBeLessThanOrEqual(50_000);
    server.will(refuse(503, "SERVICE_UNAVAILABLE", { "Retry-After": inMs(300_000) }));
    await errorOf(open().createPaymentLink({ toAmount: "1" }));
    server.will(
      refuse(503, "SERVICE_UNAVAILABLE", { "Retry-After": inMs(-50_000) }),
      answer(200, made),
    );
    await open().createPaymentLink({ toAmount: "1" });
    expect(waitedMs.slice(1)).toEqual([1_000]);
  });

  test("a minute apart at most, however often", async () => {
    server.will(refuse(500, "INTERNAL_ERROR"));
    await errorOf(open({ triesMax: 9 }).retrievePaymentLink("plink_1"));
    expect(server.asked).toHaveLength(9);
    expect(waitedMs).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  });

  test("where a try takes too long", async () => {
    // The second try has the same time, so it is much longer than an answer takes.
    const provokedTimeoutMs = 1_000;
    server.will(keepSilent, answer(200, made));
    expect(
      await open({ timeoutMs: provokedTimeoutMs }).createPaymentLink({ toAmount: "1" }),
    ).toEqual(made);
    expect(server.asked).toHaveLength(2);
  });
});

describe("a refusal", () => {
  test.each([
    [401, "INVALID_API_KEY"],
    [403, "INSUFFICIENT_API_SCOPE"],
    [409, "PAYMENT_LINK_ACCOUNT_NOT_READY"],
    [422, "greater_than"],
  ])("of %d is told at once: %s", async (status, code) => {
    server.will(refuse(status, code, { "X-Request-Id": "req_1" }));
    const error = await errorOf(open().createPaymentLink({ toAmount: "1" }));
    expect(error).toBeInstanceOf(PaymentLinksError);
    expect(error).toMatchObject({ status, code, requestId: "req_1" });
    expect(error).toMatchObject({ message: `${code}: For people. (request req_1)` });
    expect([server.asked.length, waitedMs]).toEqual([1, []]);
  });

  test("tells all problems of a validation", async () => {
    const errors = ["missing", "string_too_long"].map((code) => ({ code, message: "For people." }));
    server.will(answer(422, { errors }));
    const error = await errorOf(open().createPaymentLink({ toAmount: "1" }));
    expect(error).toMatchObject({ code: "missing", problems: errors, requestId: undefined });
  });

  test("of somebody in between has the status as its code", async () => {
    const strangers = ["<html>", "null", { errors: "all" }, { errors: [{ code: 7 }] }];
    for (const body of strangers) {
      server.will(answer(403, body));
      const error = await errorOf(open().retrievePaymentLink("plink_1"));
      expect(error).toMatchObject({ status: 403, code: "HTTP_403", problems: [] });
    }
  });

  test("is a redirect too: a key follows nobody", async () => {
    const other = await openServer();
    try {
      server.will(answer(307, "", { Location: `${other.url}/v1/payment-link` }));
      const error = await errorOf(open().createPaymentLink({ toAmount: "1" }));
      expect(error).toMatchObject({ status: 307, code: "HTTP_307" });
      expect(other.asked).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

describe("a signal ends a call", () => {
  test("while it is answered, with its reason and without another try", async () => {
    const reason = new Error("the visitor left");
    const abort = new AbortController();
    server.will(() => abort.abort(reason));
    const retrieve = open().retrievePaymentLink("plink_1", { signal: abort.signal });
    expect(await errorOf(retrieve)).toBe(reason);
    expect(server.asked).toHaveLength(1);
  });

  test("while it waits, in the world as it is", async () => {
    const abort = new AbortController();
    const reason = new Error("the visitor left");
    server.will(refuse(429, "429"));
    const wait: typeof systemWorld.wait = (_ms, signal) => {
      const waiting = systemWorld.wait(3_600_000, signal);
      abort.abort(reason);
      return waiting;
    };
    const client = createClient({ url: server.url }, { ...systemWorld, wait });
    const retrieve = client.retrievePaymentLink("plink_1", { signal: abort.signal });
    expect(await errorOf(retrieve)).toBe(reason);
  });

  test("and keeps nothing of the calls that it outlives", async () => {
    const { signal } = new AbortController();
    const kept = new Set<unknown>();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      kept.add(given[1]);
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      kept.delete(given[1]);
      remove(...given);
    };
    server.will(cut, answer(200, { id: "plink_1" }));
    await open().retrievePaymentLink("plink_1", { signal });
    expect(kept.size).toBe(0);
    server.will(answer(200, { id: "plink_1" }));
    expect(await open().retrievePaymentLink("plink_1", { signal: null })).toEqual({
      id: "plink_1",
    });
  });

  test("before it begins", async () => {
    const reason = new Error("too late");
    const signal = AbortSignal.abort(reason);
    expect(await errorOf(open().retrievePaymentLink("plink_1", { signal }))).toBe(reason);
    await expect(systemWorld.wait(60_000, signal)).rejects.toBe(reason);
    expect(server.asked).toEqual([]);
  });
});

test("the machine's own world waits, draws numbers and keys", async () => {
  await systemWorld.wait(1, undefined);
  await systemWorld.wait(1, new AbortController().signal);
  expect(systemWorld.random()).toBeLessThan(1);
  expect(systemWorld.newKey()).not.toBe(systemWorld.newKey());
});

describe("reading", () => {
  test("asks for a link by its id, whatever that is, and needs no key", async () => {
    server.will(answer(200, { id: "plink_1" }));
    await open({ apiKey: undefined }).retrievePaymentLink("../a?b");
    expect(server.asked[0]?.line).toBe("GET /v1/payment-link/..%2Fa%3Fb");
    expect(server.asked[0]?.headers).not.toHaveProperty("x-api-key");
    expect(server.asked[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test.each<unknown>(["", ".", "..", undefined])("asks nobody for the link %p", async (id) => {
    await expect(open().retrievePaymentLink(id as string)).rejects.toThrow(TypeError);
    expect(server.asked).toEqual([]);
  });

  test("asks for a page by its filter", async () => {
    server.will(answer(200, { data: [], nextOffset: null }));
    const client = open();
    await client.listPaymentLinks({ status: "completed", offset: 20 });
    await client.listPaymentLinks({ status: undefined });
    expect(server.asked.map(({ line }) => line)).toEqual([
      "GET /v1/payment-link?status=completed&offset=20",
      "GET /v1/payment-link?",
    ]);
  });

  /** A list, newest first, that grows by one link before each page that follows the first. */
  const serveGrowing = (count: number, grownBy: number) => {
    const ids = Array.from({ length: count }, (_, index) => `plink_${count - index}`);
    let pages = 0;
    server.will((res, { line }) => {
      const grown = pages === 0 ? 0 : grownBy;
      for (let n = 0; n < grown; n += 1) ids.unshift(`plink_new_${pages}_${n}`);
      pages += 1;
      const offset = Number(new URL(line.slice(4), server.url).searchParams.get("offset"));
      const data = ids.slice(offset, offset + 10).map((id) => ({ id }));
      const nextOffset = offset + 10 < ids.length ? offset + 10 : null;
      answer(200, { data, nextOffset })(res, { line, headers: {}, body: "" });
    });
    return [...ids];
  };

  test("tells each link once, though links are made meanwhile", async () => {
    const ids = serveGrowing(35, 3);
    const told: string[] = [];
    for await (const { id } of open().eachPaymentLink()) told.push(id);
    expect(told).toEqual(ids);
  });

  test("asks for no page that nobody wants", async () => {
    serveGrowing(35, 0);
    for await (const { id } of open().eachPaymentLink({ status: "active" })) {
      if (id === "plink_24") break;
    }
    expect(server.asked.map(({ line }) => line)).toEqual([
      "GET /v1/payment-link?status=active&offset=0",
      "GET /v1/payment-link?status=active&offset=10",
    ]);
  });
});

describe("what cannot be meant", () => {
  test.each([
    "pay.example.com",
    "ftp://pay.example.com",
    "https://pay.example.com/v1",
    "https://pay.example.com/?a=b",
    "https://pay.example.com/#a",
    "https://a:b@pay.example.com",
    "",
  ])("is refused as an origin: %p", (url) => {
    expect(() => open({ url })).toThrow(TypeError);
  });

  test("is an API key with a line in it, which no error tells", () => {
    expect(() => open({ apiKey: "plk_secret\n" })).toThrow(/^apiKey must be/);
    expect(() => open({ apiKey: "" })).toThrow(TypeError);
    expect(() => open({ apiKey: null as unknown as string })).toThrow(TypeError);
  });

  test("is the API key in the place of the origin, which no error tells either", () => {
    expect(() => open({ url: "plk_secret" })).toThrow(/^url must be/);
  });

  test.each<unknown>([0, -1, 1.5, Number.NaN, Infinity, 1e9, "5"])("is %p as a bound", (wrong) => {
    expect(() => open({ timeoutMs: wrong as number })).toThrow(TypeError);
    expect(() => open({ triesMax: wrong as number })).toThrow(TypeError);
  });

  test("is not an origin with a slash behind it", async () => {
    server.will(answer(200, { id: "plink_1" }));
    await open({ url: new URL(server.url) }).retrievePaymentLink("plink_1");
    expect(server.asked[0]?.line).toBe("GET /v1/payment-link/plink_1");
  });
});
