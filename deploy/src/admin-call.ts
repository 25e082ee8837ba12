import { request } from "undici";
import * as z from "zod";
import {
  CommaList,
  type Environment,
  OriginUrl,
  readConfig,
  readSecret,
} from "@payment-links/runtime";

const services = {
  "auth-keys": "AUTH_KEYS_INTERNAL_URL",
  "links-api": "LINKS_API_INTERNAL_URL",
  "settlement-listener": "SETTLEMENT_LISTENER_INTERNAL_URL",
  "webhook-dispatcher": "WEBHOOK_DISPATCHER_INTERNAL_URL",
} as const;
type ServiceName = keyof typeof services;

const address = OriginUrl.default("http://127.0.0.1:8081");
/** Where the services are. */
export const adminConfig = z.object({
  AUTH_KEYS_INTERNAL_URL: address,
  LINKS_API_INTERNAL_URL: address,
  SETTLEMENT_LISTENER_INTERNAL_URL: address,
  WEBHOOK_DISPATCHER_INTERNAL_URL: address,
});

/** A command that was understood but not carried out; its message is for the operator. */
export class CommandError extends Error {}

/** One call to one service's internal port. */
export type Call = {
  service: ServiceName;
  method: "GET" | "POST";
  path: string;
  body?: Record<string, string | number>;
  /** Which operator it is, for the audit log. */
  operator?: string | undefined;
  /** What a 404 means, if it does not mean a wrong address. */
  notFound?: string;
};

/** A replay may take minutes. */
const timeoutMs = 600_000;

/**
 * Makes a call and answers what came back. Throws CommandError, which says what to do, if the
 * service is not there or refuses; ConfigError if a variable cannot be used.
 */
export const send = async (call: Call, environment: Environment): Promise<unknown> => {
  const url = readConfig(adminConfig, environment)[services[call.service]];
  const token = CommaList.parse(readSecret(environment, "OPERATOR_TOKEN") ?? "")[0];
  const { status, text } = await ask(url, call, token).catch((error: unknown) => {
    throw new CommandError(explainNoAnswer(error, call.service, url));
  });
  const isDone = status >= 200 && status < 300;
  if (!isDone) throw new CommandError(explainRefusal(status, text, call, url));
  const value = parseJson(text);
  if (value === undefined) throw new CommandError(`${url} answered with something that is no JSON`);
  return value;
};

const ask = async (url: string, call: Call, token: string | undefined) => {
  const { method, path, body, operator } = call;
  const answer = await request(`${url}${path}`, {
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
  return { status: answer.statusCode, text: await answer.body.text() };
};

const explainNoAnswer = (error: unknown, service: ServiceName, url: string): string => {
  const where = `${service} at ${url}`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "no connection";
  if (code === "ECONNREFUSED") {
    return `nothing listens for ${where}: start it (npm start), or set ${services[service]}`;
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return `${where} did not answer within ${timeoutMs / 1000} s; it may still be at work`;
  }
  return `${where} cannot be reached (${code}); is ${services[service]} right?`;
};

const ErrorBody = z.object({
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
});

const explainRefusal = (status: number, text: string, call: Call, url: string): string => {
  const where = `${call.service} at ${url}`;
  if (status === 401) return `${where} wants another OPERATOR_TOKEN`;
  if (status === 404) {
    return call.notFound ?? `${call.service} is not at ${url}; set ${services[call.service]}`;
  }
  return explainErrors(text) ?? `${where} answered with status ${status}`;
};

/**
 * What the error envelope says, a line for each entry; undefined if the text is no such envelope.
 */
const explainErrors = (text: string): string | undefined => {
  const body = ErrorBody.safeParse(parseJson(text));
  if (!body.success) return undefined;
  return body.data.errors.map(({ code, message }) => `${code}: ${message}`).join("\n");
};

/** Parses JSON; undefined if the text is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
