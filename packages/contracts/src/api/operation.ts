import * as z from "zod";
import type { ApiErrorCode } from "../api-error.ts";
import { modes } from "../mode.ts";
import type { Scope } from "../scope.ts";
import { oneOf, parameter } from "../validation.ts";

/** Who may call an operation: anyone, a signed-in user, or an API key with the scope. */
type OperationCaller = "anyone" | "session" | Scope;

/**
 * One operation of the HTTP API. The service that implements it derives the route from this
 * definition, and the OpenAPI documents describe the operation.
 */
export type Operation = {
  method: "get" | "post" | "patch" | "delete";
  /** An Express 5 path. */
  path: string;
  caller: OperationCaller;
  /** Whether the session needs a recent proof of presence (rule CALLER-19). */
  needsPresence?: boolean;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The media types of a body that is not JSON. There is no schema for it. */
  bodyMediaTypes?: readonly string[];
  acceptsIdempotencyKey?: boolean;
  /**
   * The response schema of each success or redirect status. Null means a response without a body.
   */
  responses: Readonly<Partial<Record<200 | 201 | 204 | 303, z.ZodType | null>>>;
  /** The headers that a 200 response can have in addition to those of every response. */
  responseHeaders?: z.ZodObject;
  /** The media types of a 200 response that is not JSON. `responses` then has no schema for it. */
  mediaTypes?: readonly string[];
  /** The error codes that do not follow from the caller, the query and the body. */
  errors?: readonly ApiErrorCode[];
  /** The error code of an unexpected failure. Defaults to INTERNAL_ERROR. */
  unexpectedError?: ApiErrorCode;
};

/** The error codes of a body that cannot be read. */
const bodyErrorCodes = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_CONTENT_ENCODING"] as const;

const idempotencyErrorCodes = [
  "IDEMPOTENCY_KEY_IN_USE",
  "IDEMPOTENCY_KEY_INVALID",
  "IDEMPOTENCY_KEY_REUSED",
] as const;

const apiKeyErrorCodes = [
  "UNAUTHENTICATED",
  "INVALID_API_KEY",
  "EXPIRED_API_KEY",
  "API_KEY_ADDRESS_REFUSED",
  "INSUFFICIENT_API_SCOPE",
  "ACCOUNT_SUSPENDED",
] as const;

const sessionErrorCodes = ["UNAUTHENTICATED", "CROSS_SITE_REQUEST", "ACCOUNT_SUSPENDED"] as const;

/** Lists every error code that an operation can return, except the validation codes. */
export const listApiErrorCodes = (operation: Operation): readonly ApiErrorCode[] => {
  const {
    acceptsIdempotencyKey,
    body,
    bodyMediaTypes,
    caller,
    unexpectedError = "INTERNAL_ERROR",
    errors,
  } = operation;
  const needsPresence = operation.needsPresence === true;
  const codes: readonly ApiErrorCode[] = [
    ...listCallerErrorCodes(caller),
    ...(needsPresence ? (["REAUTHENTICATION_REQUIRED"] as const) : []),
    ...(errors ?? []),
    // The resource does not exist, belongs to another account, or the path cannot be decoded.
    ...(operation.path.includes(":") ? (["NOT_FOUND"] as const) : []),
    ...(body === undefined && bodyMediaTypes === undefined ? [] : bodyErrorCodes),
    ...(acceptsIdempotencyKey === true ? idempotencyErrorCodes : []),
    "429",
    unexpectedError,
    // The caller cannot be identified, or no response is ready in time (rule ERROR-3).
    ...(unexpectedError === "INTERNAL_ERROR" ? (["SERVICE_UNAVAILABLE"] as const) : []),
  ];
  return [...new Set(codes)];
};

const listCallerErrorCodes = (caller: OperationCaller): readonly ApiErrorCode[] => {
  if (caller === "anyone") return [];
  return caller === "session" ? sessionErrorCodes : apiKeyErrorCodes;
};

/** A count in a response. */
export const wireCount = z.int().min(0);

/** An amount in a response (rule API-12). The text is the exact value. */
export const wireAmount = z
  .string()
  .regex(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({ description: "A plain decimal in whole tokens, such as `25` or `0.1`." });

/** The response schema of a list without pages. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item) });

/** The response schema of a paginated list (rule API-5). */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item).meta({ description: "The entries of this page, in list order." }),
    limit: wireCount.meta({ description: "The maximum number of entries per page." }),
    offset: wireCount.meta({ description: "The number of filtered entries before this page." }),
    nextOffset: wireCount
      .nullable()
      .meta({ description: "The `offset` of the next page. Null on the last page." }),
  });

/** An instant in a response: ISO 8601 text in UTC. */
export const wireInstant = z.string().meta({ format: "date-time" });

/** The query parameter of the console's lists that selects a mode. Missing means live. */
export const ModeQuery = z.object({
  mode: parameter(oneOf(modes)).describe("Only this mode. Defaults to `live`."),
});
