import * as z from "zod";
import type { ApiErrorCode } from "../api-error.ts";
import type { Scope } from "../scope.ts";

/** Who may call an operation: anybody, a signed-in person, or a key with the scope. */
type OperationCaller = "anyone" | "session" | Scope;

/**
 * One operation of our HTTP API, told once: the service that serves it takes its route from here, and
 * the OpenAPI documents describe it.
 */
export type Operation = {
  method: "get" | "post" | "patch" | "delete";
  /** An Express 5 path. */
  path: string;
  caller: OperationCaller;
  /** Whether the session's person must have proven lately to be there (rule CALLER-19). */
  needsPresence?: boolean;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  acceptsIdempotencyKey?: boolean;
  /** What each status that is no refusal answers with; null is an answer without a body. */
  responses: Readonly<Partial<Record<200 | 201 | 204 | 303, z.ZodType | null>>>;
  /** What 200 is written in, where that is not JSON; then `answers` tells no shape. */
  mediaTypes?: readonly string[];
  /** What it is refused with, beside what its caller, its query and its body bring with them. */
  errors?: readonly ApiErrorCode[];
  /** What an error that is nobody's refusal is answered with; INTERNAL_ERROR where not given. */
  unexpectedError?: ApiErrorCode;
};

/** What every body is refused with that cannot be read. */
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

/** Every code of the catalogue that an operation is refused with; validation codes come on top. */
export const listApiErrorCodes = (operation: Operation): readonly ApiErrorCode[] => {
  const {
    acceptsIdempotencyKey,
    body,
    caller,
    unexpectedError = "INTERNAL_ERROR",
    errors,
  } = operation;
  const needsPresence = operation.needsPresence === true;
  const codes: readonly ApiErrorCode[] = [
    ...listCallerErrorCodes(caller),
    ...(needsPresence ? (["REAUTHENTICATION_REQUIRED"] as const) : []),
    ...(errors ?? []),
    // Nothing is there, or it is another account's, or the path does not decode.
    ...(operation.path.includes(":") ? (["NOT_FOUND"] as const) : []),
    ...(body === undefined ? [] : bodyErrorCodes),
    ...(acceptsIdempotencyKey === true ? idempotencyErrorCodes : []),
    "429",
    unexpectedError,
    // Nobody tells who is calling, or no answer comes in time (rule ERROR-3).
    ...(unexpectedError === "INTERNAL_ERROR" ? (["SERVICE_UNAVAILABLE"] as const) : []),
  ];
  return [...new Set(codes)];
};

const listCallerErrorCodes = (caller: OperationCaller): readonly ApiErrorCode[] => {
  if (caller === "anyone") return [];
  return caller === "session" ? sessionErrorCodes : apiKeyErrorCodes;
};

/** A number of things in an answer. */
export const wireCount = z.int().min(0);

/** An amount in an answer (rule API-12): its own text alone says exactly how much it is. */
export const wireAmount = z
  .string()
  .regex(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({ description: "A plain decimal of whole tokens, such as `25` or `0.1`." });

/** The answer of a list that is not paged. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item) });

/** The answer of a list that is paged (rule API-5). */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item).meta({ description: "The page's entries, in the list's order." }),
    limit: wireCount.meta({ description: "How many entries a page has at most." }),
    offset: wireCount.meta({ description: "How many entries of the filtered list come before." }),
    nextOffset: wireCount
      .nullable()
      .meta({ description: "The `offset` of the page that follows; null if nothing does." }),
  });

/** An instant in an answer: ISO 8601 in UTC, as text. */
export const wireInstant = z.string().meta({ format: "date-time" });
