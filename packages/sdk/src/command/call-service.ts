import { NoAnswerError } from "../errors.ts";
import { createResponseError } from "../send-request.ts";
import { withDeadline } from "../with-deadline.ts";

export type ServiceCall = {
  url: string;
  apiKey?: string | undefined;
  method: "GET" | "POST" | "DELETE";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal: AbortSignal;
};

export type ServiceResponse = { status: number; headers: Headers; text: string };

const timeoutMs = 10_000;

/** Makes one call and returns its JSON. Throws a `PaymentLinksError` for an error response. */
export const callService = async (call: ServiceCall): Promise<unknown> => {
  const response = await requestService(call);
  const { status, text } = response;
  if (status < 200 || status >= 300)
    throw createResponseError(response, text, { origin: call.url });
  return parseJson(text);
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

/** Makes one call and returns any response. Throws a `NoAnswerError` if none arrives. */
export const requestService = async (call: ServiceCall): Promise<ServiceResponse> => {
  const { url, path, signal } = call;
  try {
    return await withDeadline(signal, timeoutMs, async (attemptSignal) => {
      const options = { ...createFetchOptions(call), signal: attemptSignal };
      const response = await fetch(`${url}${path}`, options);
      const { headers, status } = response;
      return { headers, status, text: await response.text() };
    });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new NoAnswerError(cause, undefined, url);
  }
};

/** Parses JSON. Returns undefined for any other text, such as the page of a proxy. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
