import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { serveHttp } from "@payment-links/local-chains/serve-json-rpc";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { classifyError } from "../evm/reads/classify-error.ts";
import { BatchRejectedError, type JsonRpcClient, createJsonRpcClient } from "./json-rpc.ts";
import { RpcFault } from "./rpc-fault.ts";

/**
 * Handles the next request. A test can set it to send any response, even one that no real node
 * would send.
 */
let handleRequest: (request: IncomingMessage, response: ServerResponse) => void;
let server: Awaited<ReturnType<typeof serveHttp>>;
let jsonRpc: JsonRpcClient;
beforeEach(async () => {
  server = await serveHttp(async (request, response) => {
    await text(request);
    handleRequest(request, response);
  });
  const url = server.url.replace("http://", "http://user:p%40ss@");
  const closing = new AbortController().signal;
  jsonRpc = createJsonRpcClient({ url, timeoutMs: ampleTimeoutMs, closing, classifyError });
});
afterEach(() => server.close());

const createRpcRequest = (method: string) => ({ method, params: [], parseResult: parseText });
const parseText = (result: unknown): string => {
  if (typeof result !== "string") throw new RpcFault("invalid", "no text");
  return result;
};
const respondWith = (body: unknown, status = 200) => {
  handleRequest = (_, response) => response.writeHead(status).end(JSON.stringify(body));
};
const matchFault = (kind: string) => expect.objectContaining({ kind });

describe("one HTTP request", () => {
  test("sends the credentials of the URL in a header", async () => {
    let authorization: string | undefined;
    handleRequest = (request, response) => {
      authorization = request.headers.authorization;
      response.end(JSON.stringify({ id: 0, result: "0x1" }));
    };
    expect(await jsonRpc([createRpcRequest("eth_blockNumber")])).toEqual(["0x1"]);
    expect(authorization).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`);
  });

  test("orders a batch by its ids, which may be strings, and lets one call fail", async () => {
    respondWith([
      { id: "1", error: { code: -32_000, message: "no" } },
      { id: 0, result: "first", error: null },
    ]);
    const [firstResult, secondResult] = await jsonRpc([
      createRpcRequest("a"),
      createRpcRequest("b"),
    ]);
    expect(firstResult).toBe("first");
    expect(secondResult).toEqual(matchFault("refused"));
  });

  test.each([
    ["one error for all calls", { id: null, error: { code: -32_600, message: "no batches" } }, 200],
    ["one error in a list", [{ id: null, error: { code: -32_600, message: "no batches" } }], 200],
    ["a status", "go away", 400],
  ])("reports a rejected batch for %s", async (_, body, status) => {
    respondWith(body, status);
    await expect(jsonRpc([createRpcRequest("a"), createRpcRequest("b")])).rejects.toThrow(
      BatchRejectedError,
    );
  });

  test.each([
    ["rate_limited", 429, {}],
    ["unreachable", 502, "bad gateway"],
    ["timeout", 504, "too late"],
    ["range", 413, "too large"],
    ["refused", 401, "no"],
    ["invalid", 200, "text"],
    ["invalid", 200, { id: 0 }],
    ["invalid", 200, { id: 0, result: 7 }],
  ])("is %s with status %i and %j", async (kind, status, body) => {
    respondWith(body, status);
    const outcome = await jsonRpc([createRpcRequest("eth_getLogs")]).then(
      ([firstResult]) => firstResult,
      (error: unknown) => error,
    );
    expect(outcome).toEqual(matchFault(kind));
  });

  test("is invalid if a batch leaves out calls", async () => {
    respondWith([{ id: 0, result: "a" }]);
    await expect(jsonRpc([createRpcRequest("a"), createRpcRequest("b")])).rejects.toEqual(
      matchFault("invalid"),
    );
  });

  test.each([
    ["an object that cannot be converted to a string", '{"toString":1}'],
    ["a deeply nested array", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
  ])("ignores a batch id that is %s", async (_, id) => {
    handleRequest = (__, response) =>
      response.end(`[{"id":${id},"result":"a"},{"id":1,"result":"b"}]`);
    await expect(jsonRpc([createRpcRequest("a"), createRpcRequest("b")])).rejects.toEqual(
      matchFault("invalid"),
    );
  });

  test("stops reading an endless response at the limit and reports a range fault", async () => {
    handleRequest = (_, response) => {
      const writeMore = () => {
        while (response.writable && response.write("x".repeat(1 << 20)));
      };
      response.on("drain", writeMore);
      response.on("error", () => undefined);
      writeMore();
    };
    await expect(jsonRpc([createRpcRequest("eth_getLogs")])).rejects.toEqual(matchFault("range"));
  });
});
