import { afterEach, describe, expect, test } from "@jest/globals";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import * as z from "zod";
import { IntrospectionResponse, type IntrospectionRequest } from "@payment-links/contracts";
import { InvalidIntrospectionResponse } from "./caller.ts";
import { createIntrospectionClient } from "./introspection-client.ts";
import { createSampleResponse } from "./testing/sample-response.ts";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";

const introspectionRequest: IntrospectionRequest = { kind: "api-key", hash: "0a".repeat(32) };

type ReceivedRequest = {
  method?: string;
  url?: string;
  headers: IncomingMessage["headers"];
  body: string;
};
type Handler = (res: ServerResponse, socket: Socket, count: number) => void;

describe("createIntrospectionClient", () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const startServer = async (handleRequest: Handler) => {
    const receivedRequests: ReceivedRequest[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((req, res) => {
      let body = "";
      req.setEncoding("utf8").on("data", (text: string) => (body += text));
      req.on("end", () => {
        const { headers, method = "", url = "" } = req;
        receivedRequests.push({ method, url, headers, body });
        handleRequest(res, req.socket, receivedRequests.length);
      });
    });
    server.on("connection", (socket) => sockets.add(socket));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, receivedRequests, sockets };
  };
  const sendJson = (res: ServerResponse, value: unknown, status = 200) =>
    res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

  test("posts the request with the bearer token and parses the response, including dates", async () => {
    const response = createSampleResponse(new Date("2027-01-01T00:00:00.500Z"));
    const { url, receivedRequests } = await startServer((res) =>
      sendJson(res, z.encode(IntrospectionResponse, response)),
    );
    expect(
      await createIntrospectionClient({ url, token: "secret-token" })(introspectionRequest),
    ).toEqual(response);
    expect(receivedRequests).toMatchObject([
      {
        method: "POST",
        url: "/internal/introspect",
        headers: { authorization: "Bearer secret-token", "content-type": "application/json" },
        body: JSON.stringify(introspectionRequest),
      },
    ]);
  });

  test("parses a not-found response and ignores unknown fields", async () => {
    const { url, receivedRequests } = await startServer((res) =>
      sendJson(res, { found: false, since: "later" }),
    );
    expect(await createIntrospectionClient({ url })(introspectionRequest)).toEqual({
      found: false,
    });
    expect(receivedRequests[0]?.headers.authorization).toBeUndefined();
  });

  test("reuses connections: one, or two while the first is being returned to the pool", async () => {
    const { url, sockets } = await startServer((res) => sendJson(res, { found: false }));
    const requestIntrospection = createIntrospectionClient({ url });
    for (let call = 0; call < 10; call += 1) await requestIntrospection(introspectionRequest);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["closed", (socket) => socket.destroy()],
    ["reset", (socket) => socket.resetAndDestroy()],
  ])("retries when the server has just %s an idle connection", async (_, endConnection) => {
    const { url, receivedRequests } = await startServer((res, socket, count) => {
      if (count === 2) endConnection(socket);
      else sendJson(res, { found: false });
    });
    const requestIntrospection = createIntrospectionClient({ url });
    await requestIntrospection(introspectionRequest);
    expect(await requestIntrospection(introspectionRequest)).toEqual({ found: false });
    expect(receivedRequests).toHaveLength(3);
  });

  test("fails after two attempts when the connection keeps breaking", async () => {
    const { url, receivedRequests } = await startServer((_, socket) => socket.destroy());
    const error = await getError(createIntrospectionClient({ url })(introspectionRequest));
    expect(error).not.toBeInstanceOf(InvalidIntrospectionResponse);
    expect(receivedRequests).toHaveLength(2);
  });

  test.each([
    ["no response at all", () => undefined],
    ["a response that never ends", (res: ServerResponse) => res.writeHead(200).write("{")],
  ])("%s fails at the deadline as an outage", async (_, handleRequest) => {
    const { url } = await startServer((res) => void handleRequest(res));
    const timeoutMs = provokedTimeoutMs(100);
    const error = await getError(
      createIntrospectionClient({ url, timeoutMs })(introspectionRequest),
    );
    expect(error).not.toBeInstanceOf(InvalidIntrospectionResponse);
    expect(error.name).toBe("TimeoutError");
  });

  test("fails immediately as an outage when the port is closed", async () => {
    const { url } = await startServer(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(
      await getError(createIntrospectionClient({ url })(introspectionRequest)),
    ).not.toBeInstanceOf(InvalidIntrospectionResponse);
  });

  test.each([201, 302, 401, 403, 404, 429, 502, 503, 504])(
    "treats the status %d as an outage",
    async (status) => {
      const { url } = await startServer((res) => sendJson(res, {}, status));
      const error = await getError(createIntrospectionClient({ url })(introspectionRequest));
      expect(error).not.toBeInstanceOf(InvalidIntrospectionResponse);
      expect(error.message).toContain(String(status));
    },
  );

  test.each([400, 413, 422, 500])(
    "treats the status %d as an error of this request only",
    async (status) => {
      const { url } = await startServer((res) => sendJson(res, {}, status));
      expect(
        await getError(createIntrospectionClient({ url })(introspectionRequest)),
      ).toBeInstanceOf(InvalidIntrospectionResponse);
    },
  );

  test.each([
    ["text that is not JSON", "<html>"],
    ["JSON of another shape", '{"found":"yes"}'],
    ["an invalid account", '{"found":true,"account":{"handle":"private"},"credential":{}}'],
  ])("%s is an invalid response, and the error does not quote it", async (_, text) => {
    const { url } = await startServer((res) => res.writeHead(200).end(text));
    const error = await getError(createIntrospectionClient({ url })(introspectionRequest));
    expect(error).toBeInstanceOf(InvalidIntrospectionResponse);
    expect(error.message).not.toContain("private");
  });

  test("stops reading a response that exceeds the size limit", async () => {
    const { url } = await startServer((res) => res.writeHead(200).end(" ".repeat(300 * 1024)));
    const error = await getError(createIntrospectionClient({ url })(introspectionRequest));
    expect(error).toBeInstanceOf(InvalidIntrospectionResponse);
    expect(error.message).toContain("longer than");
  });
});

/**
 * Returns the error of a call. `instanceof Error` fails here, because Node's own errors come from
 * outside Jest's realm.
 */
const getError = async (call: Promise<unknown>): Promise<Error> => {
  const noError = new Error("the call did not fail");
  const thrownError = await call.then(
    () => noError,
    (error: unknown) => error as Error,
  );
  if (thrownError === noError) throw noError;
  return thrownError;
};
