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

/**
 * Serves JSON-RPC 2.0 over HTTP on loopback, at the given port or a free one. Accepts single calls
 * and batches. `serialize` converts a reply to text.
 */
export const serveJsonRpc = async ({
  port = 0,
  handleCall,
  serialize = (reply) => JSON.stringify(reply),
  rejectRequest = () => undefined,
}: {
  port?: number;
  handleCall: HandleRpc;
  serialize?: (reply: unknown) => string;
  /** Returns the response if the whole request is rejected, and undefined otherwise. */
  rejectRequest?: (callCount: number) => unknown;
}): Promise<{ url: string; close(): Promise<void> }> => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax)
      return void response.writeHead(413).end();
    const reply = await handleBody(await text(request), { handleCall, rejectRequest });
    response.writeHead(200, { "content-type": "application/json" }).end(serialize(reply));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
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

const handleBody = async (
  body: string,
  {
    handleCall,
    rejectRequest,
  }: { handleCall: HandleRpc; rejectRequest: (callCount: number) => unknown },
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
    return createErrorReply(id, new RpcError(-32603, `Internal error: ${String(error)}`));
  }
};

const createErrorReply = (id: unknown, { code, message, data }: RpcError): Reply => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});
