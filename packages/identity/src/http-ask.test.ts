import { afterEach, describe, expect, test } from "@jest/globals";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import * as z from "zod";
import { IntrospectionAnswer, type IntrospectionQuestion } from "@payment-links/contracts";
import { BadAnswer } from "./caller.ts";
import { createHttpAsk } from "./http-ask.ts";
import { sampleAnswer } from "./testing/sample-answer.ts";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";

const question: IntrospectionQuestion = { kind: "api-key", hash: "0a".repeat(32) };

type Asked = { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string };
type Handler = (res: ServerResponse, socket: Socket, count: number) => void;

describe("createHttpAsk", () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const serve = async (handle: Handler) => {
    const asked: Asked[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((req, res) => {
      let body = "";
      req.setEncoding("utf8").on("data", (text: string) => (body += text));
      req.on("end", () => {
        const { headers, method = "", url = "" } = req;
        asked.push({ method, url, headers, body });
        handle(res, req.socket, asked.length);
      });
    });
    server.on("connection", (socket) => sockets.add(socket));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, asked, sockets };
  };
  const json = (res: ServerResponse, value: unknown, status = 200) =>
    res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

  test("posts the question with the bearer token and reads the answer, instants included", async () => {
    const answer = sampleAnswer(new Date("2027-01-01T00:00:00.500Z"));
    const { url, asked } = await serve((res) => json(res, z.encode(IntrospectionAnswer, answer)));
    expect(await createHttpAsk({ url, token: "secret-token" })(question)).toEqual(answer);
    expect(asked).toMatchObject([
      {
        method: "POST",
        url: "/internal/introspect",
        headers: { authorization: "Bearer secret-token", "content-type": "application/json" },
        body: JSON.stringify(question),
      },
    ]);
  });

  test("reads that there is no such credential, and lets unknown fields through", async () => {
    const { url, asked } = await serve((res) => json(res, { found: false, since: "later" }));
    expect(await createHttpAsk({ url })(question)).toEqual({ found: false });
    expect(asked[0]?.headers.authorization).toBeUndefined();
  });

  test("keeps its connections: one, or two as one is still being put back", async () => {
    const { url, sockets } = await serve((res) => json(res, { found: false }));
    const ask = createHttpAsk({ url });
    for (let call = 0; call < 10; call += 1) await ask(question);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["closed", (socket) => socket.destroy()],
    ["reset", (socket) => socket.resetAndDestroy()],
  ])("a kept connection that the server had just %s is no failure", async (_, end) => {
    const { url, asked } = await serve((res, socket, count) => {
      if (count === 2) end(socket);
      else json(res, { found: false });
    });
    const ask = createHttpAsk({ url });
    await ask(question);
    expect(await ask(question)).toEqual({ found: false });
    expect(asked).toHaveLength(3);
  });

  test("a connection that breaks again and again fails, after two questions", async () => {
    const { url, asked } = await serve((_, socket) => socket.destroy());
    const failure = await failureOf(createHttpAsk({ url })(question));
    expect(failure).not.toBeInstanceOf(BadAnswer);
    expect(asked).toHaveLength(2);
  });

  test.each([
    ["no answer at all", () => undefined],
    ["an answer that never ends", (res: ServerResponse) => res.writeHead(200).write("{")],
  ])("%s fails at the deadline, as auth-keys away", async (_, handle) => {
    const { url } = await serve((res) => void handle(res));
    const timeoutMs = provokedTimeoutMs(100);
    const failure = await failureOf(createHttpAsk({ url, timeoutMs })(question));
    expect(failure).not.toBeInstanceOf(BadAnswer);
    expect(failure.name).toBe("TimeoutError");
  });

  test("nobody listening fails at once, as auth-keys away", async () => {
    const { url } = await serve(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await failureOf(createHttpAsk({ url })(question))).not.toBeInstanceOf(BadAnswer);
  });

  test.each([201, 302, 401, 403, 404, 429, 502, 503, 504])(
    "the status %d counts as auth-keys away",
    async (status) => {
      const { url } = await serve((res) => json(res, {}, status));
      const failure = await failureOf(createHttpAsk({ url })(question));
      expect(failure).not.toBeInstanceOf(BadAnswer);
      expect(failure.message).toContain(String(status));
    },
  );

  test.each([400, 413, 422, 500])(
    "the status %d is an answer to this question only",
    async (status) => {
      const { url } = await serve((res) => json(res, {}, status));
      expect(await failureOf(createHttpAsk({ url })(question))).toBeInstanceOf(BadAnswer);
    },
  );

  test.each([
    ["no JSON", "<html>"],
    ["another shape", '{"found":"yes"}'],
    ["an account that is none", '{"found":true,"account":{"handle":"private"},"credential":{}}'],
  ])("%s is a bad answer, of which nothing is repeated", async (_, text) => {
    const { url } = await serve((res) => res.writeHead(200).end(text));
    const failure = await failureOf(createHttpAsk({ url })(question));
    expect(failure).toBeInstanceOf(BadAnswer);
    expect(failure.message).not.toContain("private");
  });

  test("an answer without a bound is not read to its end", async () => {
    const { url } = await serve((res) => res.writeHead(200).end(" ".repeat(300 * 1024)));
    const failure = await failureOf(createHttpAsk({ url })(question));
    expect(failure).toBeInstanceOf(BadAnswer);
    expect(failure.message).toContain("longer than");
  });
});

/** The error of a call. Node's own errors come from outside jest's realm, so `Error` is no test. */
const failureOf = async (call: Promise<unknown>): Promise<Error> => {
  const none = new Error("the call did not fail");
  const failure = await call.then(
    () => none,
    (error: unknown) => error as Error,
  );
  if (failure === none) throw none;
  return failure;
};
