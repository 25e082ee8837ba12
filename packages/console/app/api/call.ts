import { ApiError, hasApiErrorCode } from "./api-error.ts";
import type { Mode } from "../mode.ts";
import { type Operations, operations } from "./operations.ts";
import { requestPresence } from "./presence.ts";

export type OperationId = keyof Operations;
/** The input of an operation. If it can have a mode, it must: the service's default is live. */
export type OperationInput<Id extends OperationId> = Operations[Id]["input"] &
  RequireMode<Operations[Id]["input"], "query"> &
  RequireMode<Operations[Id]["input"], "body">;
type RequireMode<Input, Part extends "query" | "body"> = Input extends { [P in Part]?: infer Value }
  ? "mode" extends keyof NonNullable<Value>
    ? { [P in Part]: { mode: Mode } }
    : unknown
  : unknown;
/** The response body of an operation. */
export type OperationResponse<Id extends OperationId> = Operations[Id]["response"];

type InputArguments<Id extends OperationId> =
  object extends OperationInput<Id> ? [input?: OperationInput<Id>] : [input: OperationInput<Id>];

type UntypedInput = {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  header?: Record<string, string | undefined>;
  body?: unknown;
};

/** Emits `ended` when the service rejects a call because the session has ended. */
export const sessionEvents = new EventTarget();

/** Calls an operation. If a proof of presence is missing, requests one and calls again. */
export const callOperation = async <Id extends OperationId>(
  id: Id,
  ...[input]: InputArguments<Id>
): Promise<OperationResponse<Id>> => {
  try {
    return await callOperationOnce(id, input);
  } catch (error) {
    if (!hasApiErrorCode(error, "REAUTHENTICATION_REQUIRED")) throw error;
    await requestPresence(error.methods);
    return callOperationOnce(id, input);
  }
};

/** Returns the URL of an operation, for links and downloads. */
export const buildOperationUrl = <Id extends OperationId>(
  id: Id,
  ...[input]: InputArguments<Id>
): string => {
  const { path = {}, query = {} } = (input ?? {}) as UntypedInput;
  const [, pathTemplate] = operations[id];
  const url = pathTemplate.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const queryString = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  ).toString();
  return queryString === "" ? url : `${url}?${queryString}`;
};

const callOperationOnce = async <Id extends OperationId>(
  id: Id,
  input: OperationInput<Id> | undefined,
): Promise<OperationResponse<Id>> => {
  const { body, header = {} } = (input ?? {}) as UntypedInput;
  const headers = new Headers(
    Object.entries(header).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const isFile = body instanceof Blob;
  if (body !== undefined && !isFile) headers.set("Content-Type", "application/json");
  const response = await fetch(buildOperationUrl(id, ...([input] as InputArguments<Id>)), {
    method: operations[id][0],
    headers,
    // Redirects are not followed, because the caller only needs to know that the call succeeded.
    redirect: "manual",
    ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, [{ code: "UNREACHABLE", message: "" }]);
  });
  if (response.status === 204 || response.type === "opaqueredirect") return undefined;
  const responseBody: unknown = await response.json().catch(() => undefined);
  if (response.ok && responseBody !== undefined) return responseBody as OperationResponse<Id>;
  throw handleErrorResponse(response, responseBody);
};

/** Converts an unexpected response to an error. Emits `ended` if the session has ended. */
export const handleErrorResponse = (response: Response, responseBody: unknown): ApiError => {
  const error = parseApiError(response, responseBody);
  if (error.codes.includes("UNAUTHENTICATED")) sessionEvents.dispatchEvent(new Event("ended"));
  return error;
};

const parseApiError = (response: Response, responseBody: unknown): ApiError => {
  const entries = (responseBody as { errors?: ConstructorParameters<typeof ApiError>[1] })?.errors;
  const retryAfterSeconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  // A proxy in front of the service can respond instead of the service, even with status 200.
  const status = response.ok ? 502 : response.status;
  return new ApiError(
    status,
    entries ?? [{ code: String(status), message: "" }],
    Number.isFinite(retryAfterSeconds) ? retryAfterSeconds : undefined,
  );
};
