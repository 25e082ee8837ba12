import { type ReadAnswer, isObject } from "./read-answer.ts";
import { type ClassifyError, type ClassifyReply, RpcFault } from "./rpc-fault.ts";

/** One JSON-RPC call, and how its answer is read. */
export type Question<T = unknown> = {
  method: string;
  params: readonly unknown[];
  read: ReadAnswer<T>;
};

/** The result of one call of a request: a node may answer some and refuse others. */
export type Answer<T = unknown> = { value: T } | { fault: RpcFault };

/**
 * Sends one HTTP request: a single call, or several as a batch (JSON-RPC 2.0, §6). Answers come in
 * the order of the calls.
 */
export type JsonRpc = <T>(questions: readonly Question<T>[]) => Promise<Answer<T>[]>;

/** A provider's answer to a batch that says that it accepts no batches. */
export class BatchRefused extends Error {
  override readonly name = "BatchRefused";
}

/**
 * The most bytes of a response. Several requests are under way at the same time, and the heap holds each
 * response as text and as JSON: a batch may hold less, and is asked for in parts where it holds more.
 */
const responseBytesMax = { single: 32 * 1024 * 1024, batch: 4 * 1024 * 1024 };
const retryAfterSecondsMax = 86_400;

/** A response object (JSON-RPC 2.0, §5), of which either the error or the result counts. */
type Single = { id: unknown; error: RpcError | undefined; result: unknown };
type RpcError = { code: number; message: string };

type Reply = { body: unknown; status: number; retryAfterMs: number | undefined };
/** A reply, and how its errors are judged. */
type JudgedReply = Reply & { classifyError: ClassifyError };

/**
 * A provider's HTTP side. Every request ends within `timeoutMs`, its body included, is sent once,
 * and ends at once when `closing` aborts. Throws {@link RpcFault} where the request as a whole
 * failed.
 */
export const createJsonRpc = (options: {
  url: string;
  timeoutMs: number;
  closing: AbortSignal;
  classifyError: ClassifyError;
  classifyReply?: ClassifyReply | undefined;
}): JsonRpc => {
  const { classifyError, classifyReply } = options;
  const send = createSend(options);
  return async (questions) => {
    const [first, ...more] = questions;
    if (first === undefined) return [];
    const reply = await send(questions);
    const kind = classifyReply?.(reply.body);
    if (kind !== undefined) throw new RpcFault(kind, `${kind}, in no JSON-RPC`, reply.retryAfterMs);
    const judged = { ...reply, classifyError };
    if (more.length === 0) return [answerOf(first, judged, readSingle(reply.body))];
    const bodies = readBatch(judged, questions.length);
    return questions.map((question, index) => answerOf(question, judged, bodies[index]));
  };
};

type Send = (questions: readonly Question[]) => Promise<Reply>;

const createSend = ({
  url,
  timeoutMs,
  closing,
}: Pick<Parameters<typeof createJsonRpc>[0], "url" | "timeoutMs" | "closing">): Send => {
  const { address, headers } = readUrl(url);
  return async (questions) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const calls = questions.map(({ method, params }, id) => ({
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
      return readReply(response, await readText(response, bytesMax), isBatch);
    } catch (error) {
      if (error instanceof RpcFault || error instanceof BatchRefused) throw error;
      if (timeout.aborted) throw new RpcFault("timeout", `no answer within ${timeoutMs} ms`);
      // What fetch throws may contain the address.
      throw new RpcFault("unreachable", closing.aborted ? "closed" : "no connection");
    }
  };
};

/** Credentials in an address are moved into a header: fetch refuses them in the address. */
const readUrl = (url: string): { address: URL; headers: Record<string, string> } => {
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
  // An uncompressed answer is as long as it says, so its bytes need not be counted.
  const length = Number(response.headers.get("content-length") ?? Infinity);
  if (length <= bytesMax && !response.headers.has("content-encoding")) {
    return response.text();
  }
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of response.body ?? []) {
    byteCount += chunk.length;
    if (byteCount > bytesMax) {
      throw new RpcFault("range", `an answer of more than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, byteCount).toString();
};

/** An HTTP error that carries JSON-RPC errors is judged by these; 429 and 413 speak for themselves. */
const readReply = ({ headers, status, ok }: Response, text: string, isBatch: boolean): Reply => {
  const body = parseJson(text);
  const retryAfterMs = readRetryAfter(headers.get("retry-after"));
  if (ok) {
    if (body === undefined) throw new RpcFault("invalid", "an answer that is no JSON");
    return { body, status, retryAfterMs };
  }
  const what = `HTTP ${status}`;
  if (status === 429) throw new RpcFault("rate_limited", what, retryAfterMs);
  if (readSingle(body)?.error || Array.isArray(body)) return { body, status, retryAfterMs };
  if (status === 413) throw new RpcFault("range", what);
  if (status === 408 || status === 504) throw new RpcFault("timeout", what);
  if (status >= 500) throw new RpcFault("unreachable", what, retryAfterMs);
  if (isBatch && status !== 401 && status !== 403) throw new BatchRefused();
  throw new RpcFault("refused", what);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readBatch = (reply: JudgedReply, callCount: number): Single[] => {
  if (!Array.isArray(reply.body)) {
    const error = readSingle(reply.body)?.error;
    if (error === undefined) throw new RpcFault("invalid", "an answer to a batch that is none");
    const fault = readError("", reply, error);
    throw fault.kind === "rate_limited" ? fault : new BatchRefused();
  }
  const batch = reply.body.map(readSingle).filter((single) => single !== undefined);
  if (batch.length < reply.body.length) {
    throw new RpcFault("invalid", "an answer to a batch that is none");
  }
  // Answers come in any order, and some providers turn a numeric id into text.
  const byId = new Map(batch.map((single) => [idOf(single), single]));
  const bodies = Array.from({ length: callCount }, (_, id) => byId.get(String(id)));
  if (bodies.every((body) => body !== undefined)) return bodies;
  // Some providers report it in a single entry without an id.
  if (batch.length === 1 && batch.some(({ error }) => error)) {
    throw new BatchRefused();
  }
  throw new RpcFault("invalid", "an answer to a batch with calls left out");
};

/** What is neither would not even turn into text always. */
const idOf = ({ id }: Single): string | undefined =>
  typeof id === "number" || typeof id === "string" ? String(id) : undefined;

/** Undefined if it is not a response object. */
const readSingle = (body: unknown): Single | undefined => {
  if (!isObject(body)) return undefined;
  const { id, error, result } = body;
  if (error === undefined || error === null) return { id, error: undefined, result };
  if (!isObject(error)) return undefined;
  const { code, message } = error;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return { id, error: { code, message }, result };
};

const answerOf = <T>(
  { method, read }: Question<T>,
  reply: JudgedReply,
  body: Single | undefined,
): Answer<T> => {
  if (body?.error) return { fault: readError(method, reply, body.error) };
  try {
    return { value: read(body?.result) };
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    return { fault: new RpcFault("invalid", `an answer to ${method} of another shape`) };
  }
};

const readError = (
  method: string,
  { classifyError, status, retryAfterMs }: JudgedReply,
  { code, message }: RpcError,
): RpcFault => {
  const kind = classifyError(method, { code, message, status });
  return new RpcFault(kind, `${kind} (${code})`, retryAfterMs);
};

/** Seconds (RFC 9110, §10.2.3), bounded; the form with a date is treated as absent. */
const readRetryAfter = (text: string | null): number | undefined =>
  text !== null && /^\d{1,9}$/.test(text)
    ? Math.min(Number(text), retryAfterSecondsMax) * 1000
    : undefined;
