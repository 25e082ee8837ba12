import { NoAnswerError, PaymentLinksError, type Problem } from "../errors.ts";
import { withDeadline } from "./with-deadline.ts";

export type ServiceCall = {
  url: string;
  apiKey?: string | undefined;
  method: "GET" | "POST" | "DELETE";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal: AbortSignal;
};

export type ServiceResponse = { status: number; headers: Headers; json: unknown };

const timeoutMs = 10_000;

/** Makes one call and returns any response. Throws a `NoAnswerError` if none arrives. */
export const requestService = async (call: ServiceCall): Promise<ServiceResponse> => {
  const { response, text } = await fetchText(call);
  return { status: response.status, headers: response.headers, json: parseJson(text) };
};

/** Makes one call and returns its JSON. Throws a `PaymentLinksError` for an error response. */
export const callService = async (call: ServiceCall): Promise<unknown> => {
  const response = await requestService(call);
  if (response.status < 200 || response.status >= 300) throw toServiceError(call.url, response);
  return response.json;
};

/** Creates the error for an error response. */
export const toServiceError = (
  origin: string,
  { status, headers, json }: ServiceResponse,
): PaymentLinksError => {
  const requestId = headers.get("X-Request-Id") ?? undefined;
  return new PaymentLinksError(status, readProblems(json), { requestId, origin });
};

/**
 * Returns the fetch options of a call. Redirects are not followed, because they would send the key
 * elsewhere.
 */
export const createFetchOptions = ({
  apiKey,
  method,
  body,
  headers,
}: ServiceCall): RequestInit => ({
  method,
  redirect: "manual",
  body: body === undefined ? null : JSON.stringify(body),
  headers: {
    ...(apiKey === undefined ? {} : { "X-API-Key": apiKey }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  },
});

const fetchText = async (call: ServiceCall): Promise<{ response: Response; text: string }> => {
  const { url, path, signal } = call;
  try {
    return await withDeadline(signal, timeoutMs, async (attemptSignal) => {
      const options = { ...createFetchOptions(call), signal: attemptSignal };
      const response = await fetch(`${url}${path}`, options);
      return { response, text: await response.text() };
    });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new NoAnswerError(cause, undefined, url);
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readProblems = (json: unknown): Problem[] => {
  const { errors } = (json ?? {}) as { errors?: unknown };
  if (!Array.isArray(errors)) return [];
  return (errors as Partial<Problem>[]).flatMap(({ code, message }) =>
    typeof code === "string" && typeof message === "string" ? [{ code, message }] : [],
  );
};
