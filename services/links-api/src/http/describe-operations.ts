import * as z from "zod";
import type {
  CreateDocumentOptions,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import {
  type Operation,
  type ApiErrorCode,
  type Scope,
  type SessionService,
  createApiError,
  listApiErrorCodes,
  sessionServices,
  getApiErrorStatus,
  validationMessages,
} from "@payment-links/contracts";
import { sessionCookiePaths } from "@payment-links/http";

const describeErrorCode = (code: ApiErrorCode): string =>
  `\`${code}\`: ${createApiError(code).entries[0]?.message ?? ""}`;

/**
 * The part of the document that explains errors, for all operations and for requests that do not
 * match any.
 */
export const errorGuide = `Handle errors by their code, never by their message. New codes may be added. If a retry can
help, the description of the error says so. Any other error would occur again. Wait 1 second before the first retry,
double the wait before each further one, and add a random delay. Never wait less than \`Retry-After\`. If a write
request gets a status of 500 or above, or no response, it may still have succeeded.

Every response has an \`X-Request-Id\`: include it when you contact the operator of this service. \`RateLimit-Policy\`
lists the limits that apply to a request, each with its burst (\`q\`) and the seconds in which it refills (\`w\`).
\`RateLimit\` contains the remaining requests (\`r\`), and the seconds until the limit is fully restored or, if no
requests remain, until the next request is allowed (\`t\`).

Requests that do not match an operation do not count against any limit. Their errors have the same format:

${(["NOT_FOUND", "METHOD_NOT_ALLOWED"] as const).map((code) => `- ${getApiErrorStatus(code)} ${describeErrorCode(code)}`).join("\n")}

Requests that cannot be parsed do not count either. Their responses do not have an \`X-Request-Id\`:

${(["BAD_REQUEST", "REQUEST_TIMEOUT", "REQUEST_HEADERS_TOO_LARGE"] as const)
  .map((code) => `- ${getApiErrorStatus(code)} ${describeErrorCode(code)}`)
  .join("\n")}

In addition to the codes of each operation, a body or a query that does not match its description is rejected
with 422 and one entry per problem:

${Object.entries(validationMessages)
  .map(([code, message]) => `- \`${code}\`: ${message}`)
  .join("\n")}`;

/** Describes operations as the paths of an OpenAPI document. The routes use the same schemas. */
export const describeOperations = (operations: readonly Operation[]): ZodOpenApiPathsObject => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation) };
  }
  return paths;
};

const describeOperation = (operation: Operation): ZodOpenApiOperationObject => {
  const { acceptsIdempotencyKey, body, bodyMediaTypes, operationId, query, summary, tag } =
    operation;
  const pathParameters = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [
    name,
    z.string(),
  ]);
  return {
    operationId,
    summary,
    description: buildDescription(operation),
    tags: [tag],
    security: buildSecurity(operation),
    requestParams: {
      ...(pathParameters.length === 0
        ? {}
        : { path: z.object(Object.fromEntries(pathParameters)) }),
      ...(query === undefined ? {} : { query }),
      ...(acceptsIdempotencyKey === true ? { header: IdempotencyHeader } : {}),
    },
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    ...(bodyMediaTypes === undefined
      ? {}
      : { requestBody: { required: true, content: buildTextContent(bodyMediaTypes) } }),
    responses: { ...describeResponses(operation), ...describeErrors(operation) },
  };
};

const buildDescription = ({ caller, description = "", summary }: Operation): string => {
  const isKey = caller !== "anyone" && caller !== "session";
  const scope = isKey ? `Requires the scope \`${caller}\`.` : "";
  return [description, scope].filter((text) => text !== "").join(" ") || `${summary}.`;
};

const buildSecurity = ({ caller, path }: Operation): Record<string, string[]>[] => {
  if (caller === "anyone") return [];
  return [caller === "session" ? { [getSessionScheme(path)]: [] } : { apiKey: [caller] }];
};

/** The names of the security schemes for the services' session cookies. */
export const sessionSchemes = {
  "auth-keys": "session",
  "links-api": "sessionLinks",
  "webhook-dispatcher": "sessionWebhooks",
} as const satisfies Record<SessionService, string>;

const scopeDescriptions: Readonly<Record<Scope, string>> = {
  "payment_link:create": "creating payment links",
  "payment_link:read": "listing payment links",
};

/** The security scheme of API keys. */
export const apiKeyScheme = {
  type: "apiKey",
  in: "header",
  name: "X-API-Key",
  description: `An API key acts as its owner, within its scopes: ${Object.entries(scopeDescriptions)
    .map(([scope, text]) => `\`${scope}\` (${text})`)
    .join(", ")}.`,
} as const;

/** Returns the security scheme of the service that implements a console path. */
const getSessionScheme = (path: string): string => {
  const service = sessionServices.find((candidate) =>
    sessionCookiePaths[candidate].some(
      (consolePath) => path === consolePath || path.startsWith(`${consolePath}/`),
    ),
  );
  if (service === undefined) throw new Error(`no session cookie is sent to ${path}`);
  return sessionSchemes[service];
};

const IdempotencyHeader = z.object({
  "Idempotency-Key": z
    .string()
    .max(255)
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/)
    .optional()
    .describe(
      "Makes retries safe. For 24 hours, a request of the same account with the same key and a byte-identical " +
        "body gets the first response again and does not create a second link. Use another key for " +
        "each link, such as the order number, and the same key for each retry. Only successful requests are stored: if " +
        "every request with a key was rejected with a 4xx, the key can be used again, even with a different body. After " +
        "a 5xx, the link may exist.",
    ),
});

const describeResponses = ({
  responses,
  responseHeaders,
  mediaTypes = [],
}: Operation): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      {
        description: responseDescriptions[status] ?? "Success.",
        headers:
          status === "303" ? RedirectHeaders : LimitHeaders.extend(responseHeaders?.shape ?? {}),
        ...(schema === null
          ? mediaTypes.length > 0 && { content: buildTextContent(mediaTypes) }
          : { content: { "application/json": { schema } } }),
      },
    ]),
  );

/** Describes content that is not JSON as text. */
const buildTextContent = (mediaTypes: readonly string[]) =>
  Object.fromEntries(mediaTypes.map((type) => [type, { schema: z.string() }]));

const responseDescriptions: Readonly<Record<string, string>> = {
  201: "Created.",
  204: "Success. The response has no body.",
  303: "Redirects to the URL in `Location`.",
};

const describeErrors = (operation: Operation): ZodOpenApiResponsesObject => {
  const codes = listApiErrorCodes(operation);
  const hasInput = operation.body !== undefined || operation.query !== undefined;
  const statuses = new Set([...codes.map(getApiErrorStatus), ...(hasInput ? [422] : [])]);
  return Object.fromEntries(
    [...statuses].map((status) => [
      String(status),
      {
        description: describeErrorStatus(operation, status),
        headers: getErrorHeaders(operation, status),
        content: { "application/json": { schema: Errors } },
      },
    ]),
  );
};

const describeErrorStatus = (operation: Operation, status: number): string => {
  const codeDescriptions = listApiErrorCodes(operation)
    .filter((code) => getApiErrorStatus(code) === status)
    .map((code) => [describeErrorCode(code), errorCodeAdvice[code] ?? ""].join(" ").trim());
  const hasInput = operation.body !== undefined || operation.query !== undefined;
  const validation =
    status === 422 && hasInput
      ? ["A validation code: the body or the query does not match its description."]
      : [];
  return [...codeDescriptions, ...validation, ...describeRetry(operation, status)].join("\n\n");
};

const errorCodeAdvice: Partial<Record<ApiErrorCode, string>> = {
  IDEMPOTENCY_KEY_IN_USE: "This request did not change anything. Try again after 1 second.",
  IDEMPOTENCY_KEY_REUSED:
    "This request did not change anything. Use a new key for a different request.",
};

/**
 * Describes whether a request with this status is worth retrying, and how to retry it safely (rule
 * ERROR-4).
 */
const describeRetry = (operation: Operation, status: number): string[] => {
  const { acceptsIdempotencyKey, unexpectedError = "INTERNAL_ERROR", method } = operation;
  if (status === 429)
    return ["Try again after `Retry-After`. This request did not change anything."];
  if (status < 500 && status !== getApiErrorStatus(unexpectedError)) return [];
  if (method === "get") return ["Try again, waiting longer each time."];
  return acceptsIdempotencyKey === true
    ? [
        "Try again with the same `Idempotency-Key`, waiting longer each time. The request may have succeeded.",
      ]
    : ["Try again, waiting longer each time. Check first, because the request may have succeeded."];
};

/**
 * Returns the response headers of an error. A path that cannot be decoded is rejected before rate
 * limiting, so a 404 response does not always have the rate limit headers.
 */
const getErrorHeaders = (operation: Operation, status: number) => {
  if (status === 429) return RetryHeaders;
  if (status === 503) return OptionalRetryHeaders;
  return status === 404 && listApiErrorCodes(operation).includes("NOT_FOUND")
    ? UnlimitedHeaders
    : LimitHeaders;
};

const Errors = z
  .object({
    errors: z
      .array(
        z.object({
          message: z.string().meta({ description: "A human-readable message. It may change." }),
          code: z
            .string()
            .meta({ description: "A machine-readable code. New codes may be added." }),
          methods: z.array(z.string()).optional().meta({
            description:
              "With `REAUTHENTICATION_REQUIRED`, the methods by which the user can prove presence.",
          }),
        }),
      )
      .min(1)
      .meta({
        description: "Handle the first entry. Only validation errors have several entries.",
      }),
  })
  .meta({ id: "Errors" });

const rateLimitHeader = z.string().meta({
  description: "The remaining quotas of the limits that apply to this request (IETF draft).",
  examples: ['"key";r=99;t=1, "ip";r=199;t=1'],
});
const rateLimitPolicyHeader = z.string().meta({
  description: "The limits that apply to this request (IETF draft).",
  examples: ['"key";q=100;w=10, "ip";q=200;w=10'],
});
const retryAfterHeader = z.int().min(1).meta({ description: "The minimum wait, in seconds." });

const RequestId = z.object({
  "X-Request-Id": z.string().meta({
    description: "The id of the request. The operator can find the request in the log by this id.",
    header: { id: "X-Request-Id" },
  }),
});

const LimitHeaders = RequestId.extend({
  RateLimit: rateLimitHeader.meta({ header: { id: "RateLimit" } }),
  "RateLimit-Policy": rateLimitPolicyHeader.meta({ header: { id: "RateLimit-Policy" } }),
});

const UnlimitedHeaders = RequestId.extend({
  RateLimit: rateLimitHeader.optional(),
  "RateLimit-Policy": rateLimitPolicyHeader.optional(),
});

const RetryHeaders = LimitHeaders.extend({
  "Retry-After": retryAfterHeader.meta({ header: { id: "Retry-After" } }),
});

const OptionalRetryHeaders = LimitHeaders.extend({ "Retry-After": retryAfterHeader.optional() });

const RedirectHeaders = LimitHeaders.extend({
  Location: z.string().meta({ description: "The URL of the redirect." }),
});

/**
 * Options for the schemas. Responses allow additional fields, because adding a field is not a
 * breaking change (rule API-1).
 */
export const documentOptions: CreateDocumentOptions = {
  override: ({ jsonSchema }) => {
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    // JavaScript's limits for safe integers are not limits of the API.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
};
