import { request } from "undici";
import * as z from "zod";
import {
  CommaList,
  type Environment,
  OriginUrl,
  parseConfig,
  readSecret,
} from "@payment-links/runtime";

const urlVariables = {
  "auth-keys": "AUTH_KEYS_INTERNAL_URL",
  "links-api": "LINKS_API_INTERNAL_URL",
  "settlement-listener": "SETTLEMENT_LISTENER_INTERNAL_URL",
  "webhook-dispatcher": "WEBHOOK_DISPATCHER_INTERNAL_URL",
} as const;
type ServiceName = keyof typeof urlVariables;

const internalUrlSchema = OriginUrl.default("http://127.0.0.1:8081");
/** The internal URLs of the services. */
export const adminConfig = z.object({
  AUTH_KEYS_INTERNAL_URL: internalUrlSchema,
  LINKS_API_INTERNAL_URL: internalUrlSchema,
  SETTLEMENT_LISTENER_INTERNAL_URL: internalUrlSchema,
  WEBHOOK_DISPATCHER_INTERNAL_URL: internalUrlSchema,
});

/** Thrown if a valid command fails. The message is meant for the operator. */
export class CommandError extends Error {}

/** A request to the internal port of a service. */
export type AdminCall = {
  service: ServiceName;
  method: "GET" | "POST";
  path: string;
  body?: Record<string, string | number>;
  /** The operator's name, for the audit log. */
  operator?: string | undefined;
  /** The error message for a 404 response, unless the 404 is caused by a wrong URL. */
  notFound?: string;
};

/** The request timeout. It is long because a replay can take minutes. */
const timeoutMs = 600_000;

/**
 * Sends a request and returns the response. If the service is unreachable or returns an error,
 * throws a `CommandError` that explains what to do. If a variable is invalid, throws a
 * `ConfigError`.
 */
export const sendCall = async (call: AdminCall, environment: Environment): Promise<unknown> => {
  const url = parseConfig(adminConfig, environment)[urlVariables[call.service]];
  const token = CommaList.parse(readSecret(environment, "OPERATOR_TOKEN") ?? "")[0];
  const { status, text } = await requestService(url, call, token).catch((error: unknown) => {
    throw new CommandError(explainConnectionError(error, call.service, url));
  });
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess) throw new CommandError(explainErrorResponse(status, text, call, url));
  const value = parseJson(text);
  if (value === undefined) throw new CommandError(`the response from ${url} is not JSON`);
  return value;
};

const requestService = async (url: string, call: AdminCall, token: string | undefined) => {
  const { method, path, body, operator } = call;
  const response = await request(`${url}${path}`, {
    method,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(operator === undefined ? {} : { operator }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.statusCode, text: await response.body.text() };
};

const explainConnectionError = (error: unknown, service: ServiceName, url: string): string => {
  const serviceLocation = `${service} at ${url}`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "no connection";
  if (code === "ECONNREFUSED") {
    return `cannot connect to ${serviceLocation}: start it (npm start), or set ${urlVariables[service]}`;
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return `${serviceLocation} did not respond within ${timeoutMs / 1000} s; the command may still be running`;
  }
  return `${serviceLocation} is unreachable (${code}): check ${urlVariables[service]}`;
};

const ErrorBody = z.object({
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
});

const explainErrorResponse = (
  status: number,
  text: string,
  call: AdminCall,
  url: string,
): string => {
  const serviceLocation = `${call.service} at ${url}`;
  if (status === 401) return `${serviceLocation} rejected the operator token: check OPERATOR_TOKEN`;
  if (status === 404) {
    return call.notFound === undefined
      ? `${call.service} is not at ${url}: set ${urlVariables[call.service]}`
      : `${call.notFound} (asked ${serviceLocation})`;
  }
  const errors = formatErrors(text);
  return errors === undefined
    ? `${serviceLocation} responded with status ${status}: check ${urlVariables[call.service]}`
    : `${errors} (from ${serviceLocation})`;
};

/**
 * Formats an error envelope with one line per entry. Returns undefined if the text is not an error
 * envelope.
 */
const formatErrors = (text: string): string | undefined => {
  const body = ErrorBody.safeParse(parseJson(text));
  if (!body.success) return undefined;
  return body.data.errors.map(({ code, message }) => `${code}: ${message}`).join("\n");
};

/** Parses JSON. Returns undefined if the text is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
