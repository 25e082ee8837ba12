import { NoAnswerError, PaymentLinksError, type Problem } from "./errors.ts";
import type { Errors } from "./shapes.ts";
import type { World } from "./world.ts";

/** One call as it is sent, the same bytes at every try. */
export type Order = {
  method: "GET" | "POST";
  /** Behind the service's origin, with its query. */
  path: string;
  body?: string;
  idempotencyKey?: string;
  /** The code that tells a fault of the service's own at this operation, whatever its status. */
  failure?: string;
  signal: AbortSignal | null | undefined;
};

export type Caller = {
  origin: string;
  apiKey: string | undefined;
  timeoutMs: number;
  triesMax: number;
  fetch: typeof fetch;
};

/** A longer `Retry-After` is the caller's to keep: the call ends with the refusal. */
const waitMsMax = 60_000;
const firstWaitMs = 1_000;
const randomPart = 0.25;

/**
 * Sends a call until it is answered for good, or was tried `triesMax` times. Every call may come again:
 * one that reads changes nothing, and one that writes has an idempotency key.
 */
export const call = async (caller: Caller, order: Order, world: World): Promise<unknown> => {
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryOnce(caller, order);
    if (outcome.error === undefined) return outcome.answer;
    const isOver = tries >= caller.triesMax || outcome.retryAfterMs > waitMsMax;
    if (!outcome.isWorthRetry || isOver) throw outcome.error;
    const backoffMs = Math.min(backoffMsOf(tries, world.random()), waitMsMax);
    await world.wait(Math.max(outcome.retryAfterMs, backoffMs), order.signal);
  }
};

type Outcome =
  | { error: undefined; answer: unknown }
  | { error: Error; isWorthRetry: boolean; retryAfterMs: number };

/** A second, twice as long each time after that, and some random part of it more. */
const backoffMsOf = (tries: number, random: number): number =>
  firstWaitMs * 2 ** (tries - 1) * (1 + random * randomPart);

const tryOnce = async (caller: Caller, order: Order): Promise<Outcome> => {
  const { end, signal } = limit(caller.timeoutMs, order.signal);
  try {
    const response = await caller.fetch(`${caller.origin}${order.path}`, {
      method: order.method,
      headers: headersOf(caller, order),
      body: order.body ?? null,
      // A key follows nobody to another address.
      redirect: "manual",
      signal,
    });
    const text = await response.text();
    if (response.ok) return { error: undefined, answer: JSON.parse(text) as unknown };
    return refusalOf(response, text, order);
  } catch (cause) {
    if (order.signal?.aborted === true) throw order.signal.reason;
    const error = new NoAnswerError(cause, order.idempotencyKey);
    return { error, isWorthRetry: true, retryAfterMs: 0 };
  } finally {
    end();
  }
};

/**
 * A signal for one try, and what ends it. Not `AbortSignal.any`, by which Node 20 keeps something of
 * each try for as long as the caller's signal lives.
 */
const limit = (timeoutMs: number, outer: AbortSignal | null | undefined) => {
  const inner = new AbortController();
  const stop = () => inner.abort(outer?.reason);
  const timer = setTimeout(() => {
    inner.abort(new DOMException(`no answer within ${timeoutMs} ms`, "TimeoutError"));
  }, timeoutMs);
  if (outer?.aborted === true) stop();
  outer?.addEventListener("abort", stop, { once: true });
  const end = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  };
  return { signal: inner.signal, end };
};

const headersOf = ({ apiKey }: Caller, { body, idempotencyKey }: Order) => ({
  Accept: "application/json",
  ...(apiKey === undefined ? {} : { "X-API-Key": apiKey }),
  ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
});

const refusalOf = (
  response: Response,
  text: string,
  { failure, idempotencyKey }: Order,
): Outcome => {
  const { headers, status } = response;
  const requestId = headers.get("X-Request-Id") ?? undefined;
  const error = new PaymentLinksError(status, problemsOf(text), { requestId, idempotencyKey });
  const isWorthRetry =
    status >= 500 ||
    retriedStatuses.has(status) ||
    retriedCodes.has(error.code) ||
    error.code === failure;
  return { error, isWorthRetry, retryAfterMs: retryAfterMsOf(headers.get("Retry-After") ?? "") };
};

/** The request came too slowly, or too often. */
const retriedStatuses: ReadonlySet<number> = new Set([408, 429]);
/** The first try is still under way. */
const retriedCodes: ReadonlySet<string> = new Set(["IDEMPOTENCY_KEY_IN_USE"]);

/** Seconds, as the service sends them, or a date, as a proxy may (RFC 9110, section 10.2.3). */
const retryAfterMsOf = (header: string): number => {
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const untilMs = Date.parse(header) - Date.now();
  return untilMs > 0 ? untilMs : 0;
};

/** The error envelope's entries; none where somebody else has answered. */
const problemsOf = (text: string): Problem[] => {
  try {
    const { errors } = JSON.parse(text) as Errors;
    return errors
      .filter(({ code, message }) => isText(code) && isText(message))
      .map(({ code, message }) => ({ code, message }));
  } catch {
    return [];
  }
};

const isText = (value: unknown): boolean => typeof value === "string";
