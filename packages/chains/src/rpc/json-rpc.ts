import { type ResultParser, isObject } from "./parse-result.ts";
import { type ClassifyError, type ClassifyReply, RpcFault } from "./rpc-fault.ts";

/** One JSON-RPC call with the parser for its result. */
export type RpcRequest<T = unknown> = {
  method: string;
  params: readonly unknown[];
  parseResult: ResultParser<T>;
  /** Whether a fault of this call is its result instead of being thrown. See {@link orFault}. */
  returnsFault?: boolean;
};

/** Changes a request so that a fault of this call is its result instead of being thrown. */
export const orFault = <T>(request: RpcRequest<T>): RpcRequest<T | RpcFault> => ({
  ...request,
  returnsFault: true,
});

/**
 * Sends one HTTP request with a single call or a batch (JSON-RPC 2.0, §6). Returns the results in
 * the order of the calls. In a batch, some calls can succeed while others fail.
 */
export type JsonRpcClient = <T>(requests: readonly RpcRequest<T>[]) => Promise<(T | RpcFault)[]>;

/** The provider does not accept batches. */
export class BatchRejectedError extends Error {
  override readonly name = "BatchRejectedError";
}

/**
 * The maximum response size in bytes. Several requests run at the same time, and each response is
 * in memory twice, as text and as JSON. The limit is lower for batches, because a batch can be
 * split into smaller ones.
 */
const responseBytesMax = { single: 32 * 1024 * 1024, batch: 4 * 1024 * 1024 };
const retryAfterSecondsMax = 86_400;

/** A response object (JSON-RPC 2.0, §5). If there is an `error`, ignore `result`. */
type ResponseObject = { id: unknown; error: ErrorObject | undefined; result: unknown };
type ErrorObject = { code: number; message: string };

type Reply = { body: unknown; status: number; retryAfterMs: number | undefined };
/** A reply, with the function that classifies its errors. */
type ClassifiedReply = Reply & { classifyError: ClassifyError };

/**
 * Creates the JSON-RPC client of one provider. Each request is sent once. It must finish within
 * `timeoutMs`, including the response body, and is aborted when `closing` aborts. Throws {@link
 * RpcFault} if the request fails as a whole.
 */
export const createJsonRpcClient = (options: {
  url: string;
  timeoutMs: number;
  closing: AbortSignal;
  classifyError: ClassifyError;
  classifyReply?: ClassifyReply | undefined;
}): JsonRpcClient => {
  const { classifyError, classifyReply } = options;
  const send = createSend(options);
  return async (requests) => {
    const [firstRequest, ...otherRequests] = requests;
    if (firstRequest === undefined) return [];
    const reply = await send(requests);
    const kind = classifyReply?.(reply.body);
    if (kind !== undefined)
      throw new RpcFault(kind, `${kind}, reply is not JSON-RPC`, reply.retryAfterMs);
    const classifiedReply = { ...reply, classifyError };
    if (otherRequests.length === 0)
      return [parseCallResult(firstRequest, classifiedReply, parseResponseObject(reply.body))];
    const bodies = parseBatch(classifiedReply, requests.length);
    return requests.map((request, index) =>
      parseCallResult(request, classifiedReply, bodies[index]),
    );
  };
};

type Send = (requests: readonly RpcRequest[]) => Promise<Reply>;

const createSend = ({
  url,
  timeoutMs,
  closing,
}: Pick<Parameters<typeof createJsonRpcClient>[0], "url" | "timeoutMs" | "closing">): Send => {
  const { address, headers } = parseUrl(url);
  return async (requests) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const calls = requests.map(({ method, params }, id) => ({
      jsonrpc: "2.0",
      id,
      method,
      params,
    }));
    try {
      const response = await fetch(address, {
        method: "POST",
        headers,
        body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
        signal: AbortSignal.any([closing, timeout]),
      });
      const isBatch = calls.length > 1;
      const bytesMax = isBatch ? responseBytesMax.batch : responseBytesMax.single;
      return parseReply(response, await readText(response, bytesMax), isBatch);
    } catch (error) {
      if (error instanceof RpcFault || error instanceof BatchRejectedError) throw error;
      if (timeout.aborted) throw new RpcFault("timeout", `no reply within ${timeoutMs} ms`);
      // The error message of fetch can contain the URL.
      throw new RpcFault("unreachable", closing.aborted ? "closed" : "no connection");
    }
  };
};

/** Moves credentials from the URL into a header, because fetch rejects URLs with credentials. */
const parseUrl = (url: string): { address: URL; headers: Record<string, string> } => {
  const address = new URL(url);
  const { username, password } = address;
  const headers = { "content-type": "application/json" };
  if (username === "" && password === "") return { address, headers };
  address.username = "";
  address.password = "";
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { address, headers: { ...headers, authorization } };
};

const readText = async (response: Response, bytesMax: number): Promise<string> => {
  // The `content-length` of an uncompressed response is exact, so the bytes need not be counted.
  const length = Number(response.headers.get("content-length") ?? Infinity);
  if (length <= bytesMax && !response.headers.has("content-encoding")) {
    return response.text();
  }
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of response.body ?? []) {
    byteCount += chunk.length;
    if (byteCount > bytesMax) {
      throw new RpcFault("range", `reply of more than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, byteCount).toString();
};

/** JSON-RPC errors in the body of an HTTP error take precedence over its status, except for 429. */
const parseReply = ({ headers, status, ok }: Response, text: string, isBatch: boolean): Reply => {
  const body = parseJson(text);
  const retryAfterMs = parseRetryAfter(headers.get("retry-after"));
  if (ok) {
    if (body === undefined) throw new RpcFault("invalid", "reply is not JSON");
    return { body, status, retryAfterMs };
  }
  const message = `HTTP ${status}`;
  if (status === 429) throw new RpcFault("rate_limited", message, retryAfterMs);
  if (parseResponseObject(body)?.error || Array.isArray(body))
    return { body, status, retryAfterMs };
  if (status === 413) throw new RpcFault("range", message);
  if (status === 408 || status === 504) throw new RpcFault("timeout", message);
  if (status >= 500) throw new RpcFault("unreachable", message, retryAfterMs);
  if (isBatch && status !== 401 && status !== 403) throw new BatchRejectedError();
  throw new RpcFault("refused", message);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const parseBatch = (reply: ClassifiedReply, callCount: number): ResponseObject[] => {
  if (!Array.isArray(reply.body)) {
    const error = parseResponseObject(reply.body)?.error;
    if (error === undefined) throw new RpcFault("invalid", "batch reply is not a batch");
    const fault = toRpcFault("", reply, error);
    throw fault.kind === "rate_limited" ? fault : new BatchRejectedError();
  }
  const batch = reply.body
    .map(parseResponseObject)
    .filter((responseObject) => responseObject !== undefined);
  if (batch.length < reply.body.length) {
    throw new RpcFault("invalid", "batch reply is not a batch");
  }
  // The results of a batch can have any order, and some providers return a numeric id as a string.
  const responsesById = new Map(
    batch.map((responseObject) => [getResponseId(responseObject), responseObject]),
  );
  const bodies = Array.from({ length: callCount }, (_, id) => responsesById.get(String(id)));
  if (bodies.every((body) => body !== undefined)) return bodies;
  // Some providers reject a batch with a single error that has no id.
  if (batch.length === 1 && batch.some(({ error }) => error)) {
    throw new BatchRejectedError();
  }
  throw new RpcFault("invalid", "batch reply lacks some calls");
};

/** Returns undefined for ids of other JSON types, because `String()` can throw for them. */
const getResponseId = ({ id }: ResponseObject): string | undefined =>
  typeof id === "number" || typeof id === "string" ? String(id) : undefined;

/** Parses a response object. Returns undefined if the value is none. */
const parseResponseObject = (body: unknown): ResponseObject | undefined => {
  if (!isObject(body)) return undefined;
  const { id, error, result } = body;
  if (error === undefined || error === null) return { id, error: undefined, result };
  if (!isObject(error)) return undefined;
  const { code, message } = error;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return { id, error: { code, message }, result };
};

const parseCallResult = <T>(
  { method, parseResult }: RpcRequest<T>,
  reply: ClassifiedReply,
  body: ResponseObject | undefined,
): T | RpcFault => {
  if (body?.error) return toRpcFault(method, reply, body.error);
  try {
    return parseResult(body?.result);
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    return new RpcFault("invalid", `invalid result of ${method}`);
  }
};

const toRpcFault = (
  method: string,
  { classifyError, status, retryAfterMs }: ClassifiedReply,
  { code, message }: ErrorObject,
): RpcFault => {
  const kind = classifyError(method, { code, message, status });
  return new RpcFault(kind, `${kind} (${code})`, retryAfterMs);
};

/**
 * Parses the seconds of a `Retry-After` header (RFC 9110, §10.2.3), at most one day. Does not
 * support the date format.
 */
const parseRetryAfter = (text: string | null): number | undefined =>
  text !== null && /^\d{1,9}$/.test(text)
    ? Math.min(Number(text), retryAfterSecondsMax) * 1000
    : undefined;
