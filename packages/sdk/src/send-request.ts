import { NoAnswerError, PaymentLinksError, type Problem } from "./errors.ts";
import type { Errors } from "./shapes.ts";
import type { Runtime } from "./runtime.ts";
import { withDeadline } from "./with-deadline.ts";

/** One call. Every attempt sends the same bytes. */
export type ApiRequest = {
  method: "GET" | "POST";
  /** The path after the origin, including the query. */
  path: string;
  body?: string;
  idempotencyKey?: string;
  /** The error code that means an internal error for this operation, whatever the status is. */
  internalErrorCode?: string;
  signal: AbortSignal | null | undefined;
};

export type ClientSettings = {
  origin: string;
  apiKey: string | undefined;
  timeoutMs: number;
  triesMax: number;
  fetch: typeof fetch;
};

/**
 * If `Retry-After` is longer than this, the call throws the error response and the caller decides
 * what to do.
 */
const waitMsMax = 60_000;
const initialBackoffMs = 1_000;
const jitterFraction = 0.25;

/**
 * Sends a call until it gets a final response or reaches `triesMax`. Every call can be repeated
 * safely, because reads do not change anything and writes have an idempotency key.
 */
export const sendRequest = async (
  settings: ClientSettings,
  request: ApiRequest,
  runtime: Runtime,
): Promise<{ body: unknown; ignoredFields: string }> => {
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    const result = await attemptRequest(settings, request);
    if (result.error === undefined) return result;
    const isExhausted = attemptNumber >= settings.triesMax || result.retryAfterMs > waitMsMax;
    if (!result.isRetryable || isExhausted) throw result.error;
    const backoffMs = Math.min(computeBackoffMs(attemptNumber, runtime.random()), waitMsMax);
    await runtime.wait(Math.max(result.retryAfterMs, backoffMs), request.signal);
  }
};

type AttemptResult =
  /** `ignoredFields` is the header with the names of ignored fields, separated by commas. */
  | { error: undefined; body: unknown; ignoredFields: string }
  | { error: Error; isRetryable: boolean; retryAfterMs: number };

/** Returns 1 s, doubled with each attempt, plus up to 25% jitter. */
const computeBackoffMs = (attemptNumber: number, random: number): number =>
  initialBackoffMs * 2 ** (attemptNumber - 1) * (1 + random * jitterFraction);

const attemptRequest = async (
  settings: ClientSettings,
  request: ApiRequest,
): Promise<AttemptResult> => {
  try {
    const { response, text } = await withDeadline(
      request.signal,
      settings.timeoutMs,
      async (signal) => {
        const sentResponse = await settings.fetch(`${settings.origin}${request.path}`, {
          method: request.method,
          headers: buildHeaders(settings, request),
          body: request.body ?? null,
          // Redirects are not followed, because they would send the API key to another address.
          redirect: "manual",
          signal,
        });
        return { response: sentResponse, text: await sentResponse.text() };
      },
    );
    const ignoredFields = response.headers.get("Payment-Links-Ignored-Fields") ?? "";
    if (response.ok) return { error: undefined, body: JSON.parse(text) as unknown, ignoredFields };
    return toErrorResult(response, text, { ...request, origin: settings.origin });
  } catch (cause) {
    if (request.signal?.aborted === true) throw request.signal.reason;
    const error = new NoAnswerError(cause, request.idempotencyKey, settings.origin);
    return { error, isRetryable: true, retryAfterMs: 0 };
  }
};

const buildHeaders = ({ apiKey }: ClientSettings, { body, idempotencyKey }: ApiRequest) => ({
  Accept: "application/json",
  ...(apiKey === undefined ? {} : { "X-API-Key": apiKey }),
  ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
});

const toErrorResult = (
  response: Response,
  text: string,
  { internalErrorCode, idempotencyKey, origin }: ApiRequest & Pick<ClientSettings, "origin">,
): AttemptResult => {
  const error = createResponseError(response, text, { idempotencyKey, origin });
  const { retryAfterMs } = error;
  const isRetryable =
    isTemporaryError(error) || retryableCodes.has(error.code) || error.code === internalErrorCode;
  return { error, isRetryable, retryAfterMs };
};

/** Creates the error for an error response. */
export const createResponseError = (
  { headers, status }: Pick<Response, "headers" | "status">,
  text: string,
  call: { idempotencyKey?: string | undefined; origin: string },
): PaymentLinksError =>
  new PaymentLinksError(status, parseProblems(text), {
    ...call,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfterMs: parseRetryAfterMs(headers.get("Retry-After") ?? ""),
  });

/** Returns whether a later attempt of any call can succeed. */
export const isTemporaryError = (error: unknown): boolean =>
  error instanceof NoAnswerError ||
  (error instanceof PaymentLinksError &&
    (error.status >= 500 || retryableStatuses.has(error.status)));

/** 408: the request arrived too slowly. 429: there were too many requests. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 429]);
/** The first attempt is still in progress. */
const retryableCodes: ReadonlySet<string> = new Set(["IDEMPOTENCY_KEY_IN_USE"]);

/**
 * Parses `Retry-After`. The service sends it in seconds. A proxy can send a date instead (RFC 9110,
 * section 10.2.3).
 */
const parseRetryAfterMs = (header: string): number => {
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const remainingMs = Date.parse(header) - Date.now();
  return remainingMs > 0 ? remainingMs : 0;
};

/**
 * Returns the entries of the error envelope, or an empty list if the response does not come from
 * the service.
 */
const parseProblems = (text: string): Problem[] => {
  try {
    const { errors } = JSON.parse(text) as Errors;
    return errors
      .filter(({ code, message }) => isString(code) && isString(message))
      .map(({ code, message }) => ({ code, message }));
  } catch {
    return [];
  }
};

const isString = (value: unknown): boolean => typeof value === "string";
