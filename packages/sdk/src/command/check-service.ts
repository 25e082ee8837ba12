import { NoAnswerError } from "../errors.ts";
import { createResponseError } from "../send-request.ts";
import { type ServiceResponse, parseJson, requestService } from "./call-service.ts";
import type { Check } from "./check-receiver.ts";
import type { Terminal } from "./command.ts";
import type { Settings } from "./settings.ts";

/** Receivers reject webhooks whose timestamp is more than 300 s off. */
const clockDifferenceMsMax = 30_000;

/** Checks the address of the service, the clock of this computer, and the API key. */
export const checkService = async (
  { url, apiKey }: Settings,
  terminal: Pick<Terminal, "now" | "signal">,
): Promise<Check[]> => {
  const call = { url, signal: terminal.signal };
  const sentAt = terminal.now();
  const response = await requestService({
    ...call,
    method: "GET",
    path: "/v1/openapi.json",
  }).catch(toUndefinedIfUnanswered);
  if (response === undefined)
    return [{ name: "Service", result: "failed", message: `${url} does not respond` }];
  const { info } = (parseJson(response.text) ?? {}) as { info?: { title?: unknown } };
  if (info?.title !== "Payment Links") {
    const message = `${url} is not Payment Links (status ${response.status})`;
    return [{ name: "Service", result: "failed", message }];
  }
  const checks: Check[] = [
    { name: "Service", result: "ok", message: `${url} responds` },
    checkClock(response.headers, sentAt, terminal.now()),
  ];
  if (apiKey === undefined) {
    const message = "there is none: run `payment-links login`, or set PAYMENT_LINKS_API_KEY";
    return [...checks, { name: "API key", result: "failed", message }];
  }
  return [...checks, ...(await checkKey({ ...call, apiKey }))];
};

const toUndefinedIfUnanswered = (error: unknown): undefined => {
  if (!(error instanceof NoAnswerError)) throw error;
};

/** Compares the clocks. The header has whole seconds and was written between the two times. */
const checkClock = (headers: Headers, sentAt: Date, receivedAt: Date): Check => {
  const serviceMs = Date.parse(headers.get("Date") ?? "");
  const differenceMs = Math.max(
    serviceMs - receivedAt.getTime(),
    sentAt.getTime() - 1_000 - serviceMs,
    0,
  );
  const name = "Clock";
  if (Number.isNaN(differenceMs))
    return { name, result: "warning", message: "the service did not send its time" };
  const seconds = Math.round(differenceMs / 1_000);
  return differenceMs <= clockDifferenceMsMax
    ? { name, result: "ok", message: "agrees with the service" }
    : {
        name,
        result: "warning",
        message: `differs from the service by ${seconds} s: receivers reject webhooks from 300 s`,
      };
};

type KeyCall = { url: string; apiKey: string; signal: AbortSignal };

/**
 * Checks the key and each of its scopes. The scope is checked before the body, so a create without
 * an amount shows whether the key may create links, and creates nothing.
 */
const checkKey = async (call: KeyCall): Promise<Check[]> => {
  const path = "/v1/payment-link";
  const listed = await requestService({ ...call, method: "GET", path });
  const created = await requestService({ ...call, method: "POST", path, body: {} });
  const responses = [
    { scope: "payment_link:read", response: listed, successStatus: 200 },
    { scope: "payment_link:create", response: created, successStatus: 422 },
  ];
  const rejected = responses.find(
    ({ response, successStatus }) =>
      response.status !== successStatus && !isScopeMissing(call.url, response),
  );
  if (rejected !== undefined) {
    const { message } = toError(call.url, rejected.response);
    return [{ name: "API key", result: "failed", message }];
  }
  const scopes = responses.filter(
    ({ response, successStatus }) => response.status === successStatus,
  );
  const scopeNames = scopes.map(({ scope }) => scope).join(" and ");
  const missing = responses.filter((response) => !scopes.includes(response));
  const missingNames = missing.map(({ scope }) => scope).join(" and ");
  return [
    { name: "API key", result: "ok", message: `can be used, with ${scopeNames || "no scope"}` },
    ...(missingNames === ""
      ? []
      : [
          { name: "Scopes", result: "warning", message: `the key has no ${missingNames}` } as const,
        ]),
  ];
};

const isScopeMissing = (url: string, response: ServiceResponse): boolean =>
  toError(url, response).code === "INSUFFICIENT_API_SCOPE";

const toError = (origin: string, response: ServiceResponse) =>
  createResponseError(response, response.text, { origin });
