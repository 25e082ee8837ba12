import { getActiveTraceparent } from "@payment-links/runtime";

export type InternalClientOptions = {
  /** The base URL of the other service's internal listener, without a trailing slash. */
  url: string;
  /** The bearer token that `/internal/…` requires. */
  token?: string | undefined;
  timeoutMs?: number;
};

type InternalRequest = {
  /** The name of the called service, for errors. */
  service: string;
  url: string;
  token: string | undefined;
  timeoutMs: number;
  body: object;
};

/**
 * Sends a request to another service's internal listener. Throws if the response is an error. No
 * error contains the request.
 */
export const postInternal = async ({
  service,
  url,
  token,
  timeoutMs,
  body,
}: InternalRequest): Promise<Response> => {
  const traceparent = getActiveTraceparent();
  const response = await fetch(url, {
    method: "POST",
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: JSON.stringify(body),
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new Error(`${service} responded with status ${response.status}`);
};
