import { Agent, request } from "undici";
import * as z from "zod";
import { IntrospectionResponse, IntrospectionRequest } from "@payment-links/contracts";
import { getActiveTraceparent } from "@payment-links/runtime";
import { type RequestIntrospection, InvalidIntrospectionResponse } from "./caller.ts";

type IntrospectionClientOptions = {
  /** The base URL of auth-keys' internal listener, without a trailing slash. */
  url: string;
  /** The bearer token that `/internal/…` requires. */
  token?: string | undefined;
  timeoutMs?: number;
};

const defaultTimeoutMs = 2_000;
const connectionsMax = 32;
const responseBytesMax = 256 * 1024;

/**
 * Sends introspection requests over HTTP on pooled connections. One deadline covers the whole
 * request, including the retry.
 */
export const createIntrospectionClient = ({
  url,
  token,
  timeoutMs = defaultTimeoutMs,
}: IntrospectionClientOptions): RequestIntrospection => {
  const dispatcher = new Agent({ connections: connectionsMax, maxResponseSize: responseBytesMax });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (introspectionRequest) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const traceparent = getActiveTraceparent();
    const sendRequest = () =>
      request(`${url}/internal/introspect`, {
        dispatcher,
        signal,
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...authorization,
          ...(traceparent === undefined ? {} : { traceparent }),
        },
        body: JSON.stringify(z.encode(IntrospectionRequest, introspectionRequest)),
      });
    const response = await sendRequest().catch((error: unknown) => {
      // The server can close an idle connection at the moment it is reused. A retry is safe,
      // because introspection does not change anything.
      if (isBrokenConnection(error)) return sendRequest();
      throw error;
    });
    return parseResponse(response.statusCode, await readBody(response.body));
  };
};

const isBrokenConnection = (error: unknown): boolean =>
  hasCode(error, "ECONNRESET") || hasCode(error, "EPIPE") || hasCode(error, "UND_ERR_SOCKET");

const hasCode = (error: unknown, code: string): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === code;

const readBody = (body: { text(): Promise<string> }): Promise<string> =>
  body.text().catch((error: unknown) => {
    if (hasCode(error, "UND_ERR_RES_EXCEEDED_MAX_SIZE")) {
      throw new InvalidIntrospectionResponse(
        `the auth-keys response is longer than ${responseBytesMax} bytes`,
      );
    }
    throw error;
  });

/**
 * A single bad request can cause these statuses. Any other status means that auth-keys is
 * unavailable.
 */
const requestSpecificStatuses = new Set([400, 413, 422, 500]);

const parseResponse = (status: number, text: string): IntrospectionResponse => {
  if (status !== 200) {
    const message = `auth-keys responded with status ${status}`;
    throw requestSpecificStatuses.has(status)
      ? new InvalidIntrospectionResponse(message)
      : new Error(message);
  }
  const parsed = z.safeDecode(IntrospectionResponse, parseJson(text));
  // The error contains the names of the invalid fields but not the text, because the text describes
  // an account.
  if (!parsed.success)
    throw new InvalidIntrospectionResponse(
      `invalid auth-keys response: ${formatIssues(parsed.error)}`,
    );
  return parsed.data;
};

const parseJson = (text: string): z.input<typeof IntrospectionResponse> => {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidIntrospectionResponse("the auth-keys response is not JSON");
  }
};

const formatIssues = (error: z.ZodError): string =>
  error.issues.map(({ path, code }) => `${path.join(".") || "response"} ${code}`).join(", ");
