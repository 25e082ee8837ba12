import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A JSON-RPC error that a node returns. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type HandleRpc = (method: string, params: readonly unknown[]) => unknown;

type Reply = { jsonrpc: "2.0"; id: unknown; result?: unknown; error?: unknown };

const bodyBytesMax = 8 * 1024 * 1024;

type Server = { url: string; close: () => Promise<void> };

/**
 * Serves HTTP on loopback, at the given port or a free one. If the handler throws, the connection
 * is closed.
 */
export const serveHttp = async (
  handleRequest: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
  port = 0,
): Promise<Server> => {
  const server = createServer((request, response) => {
    handleRequest(request, response).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  let closing: Promise<unknown> | undefined;
  const close = async (): Promise<unknown> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    return await closed;
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => void (await (closing ??= close())),
  };
};

/** Returns the response if the whole request is rejected, and undefined otherwise. */
type RejectRequest = (callCount: number) => unknown;

/** Serves JSON-RPC 2.0. Accepts single calls and batches. */
export const serveJsonRpc = ({
  port,
  handleCall,
  rejectRequest,
}: {
  port?: number | undefined;
  handleCall: HandleRpc;
  rejectRequest?: RejectRequest;
}): Promise<Server> => {
  const handleSafely: HandleRpc = async (method, params) => {
    try {
      return await handleCall(method, params);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      throw new RpcError(-32603, `Internal error: ${String(error)}`);
    }
  };
  return serveHttp(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax)
      return response.writeHead(413).end();
    const reply = await respondToBody(await text(request), handleSafely, rejectRequest);
    return response.writeHead(200, { "content-type": "application/json" }).end(reply);
  }, port);
};

/**
 * Returns the response to the body of a request. An error that is not an `RpcError` is thrown
 * again.
 */
export const respondToBody = async (
  body: string,
  handleCall: HandleRpc,
  rejectRequest?: RejectRequest,
): Promise<string> => serializeWithBigInts(await handleBody(body, handleCall, rejectRequest));

const handleBody = async (
  body: string,
  handleCall: HandleRpc,
  rejectRequest: RejectRequest = () => undefined,
): Promise<unknown> => {
  let calls: unknown;
  try {
    calls = JSON.parse(body);
  } catch {
    return createErrorReply(null, new RpcError(-32700, "Parse error"));
  }
  const rejection = rejectRequest(Array.isArray(calls) ? calls.length : 1);
  if (rejection instanceof RpcError) return createErrorReply(null, rejection);
  if (rejection !== undefined) return rejection;
  if (!Array.isArray(calls)) return await respondToCall(calls, handleCall);
  if (calls.length === 0) return createErrorReply(null, new RpcError(-32600, "Invalid request"));
  const replies: Reply[] = [];
  for (const call of calls) replies.push(await respondToCall(call, handleCall));
  return replies;
};

const respondToCall = async (call: unknown, handleCall: HandleRpc): Promise<Reply> => {
  const { id = null, method, params = [] } = (call ?? {}) as Record<string, unknown>;
  if (typeof method !== "string" || !Array.isArray(params)) {
    return createErrorReply(id, new RpcError(-32600, "Invalid request"));
  }
  try {
    return { jsonrpc: "2.0", id, result: (await handleCall(method, params)) ?? null };
  } catch (error) {
    if (error instanceof RpcError) return createErrorReply(id, error);
    throw error;
  }
};

const createErrorReply = (id: unknown, { code, message, data }: RpcError): Reply => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

const bigIntPrefix = "bigint:";

/** Serializes bigints as JSON numbers of any length, as a real node does. */
const serializeWithBigInts = (reply: unknown): string =>
  JSON.stringify(reply, (_, value: unknown) =>
    typeof value === "bigint" ? `${bigIntPrefix}${value}` : value,
  ).replaceAll(new RegExp(`"${bigIntPrefix}(\\d+)"`, "g"), "$1");
