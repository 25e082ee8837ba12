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

/** The text about errors of all operations and of requests outside of them. */
export const errorGuide = `Branch on an error's code, never on its message; the set of codes is open. What is worth a retry says
so where it stands; all else is answered so again. Wait a second, twice as long each time after that, and
some random part of it more; never less than \`Retry-After\`. Where a call that writes is answered with 500 or
above, or not at all, it may have been done all the same.

Every answer has an \`X-Request-Id\`: tell it to whoever runs this service. \`RateLimit-Policy\` tells the limits that
a call counts against, each with its burst (\`q\`) and the seconds that refill it (\`w\`); \`RateLimit\` what is
left (\`r\`), and in how many seconds all of it is there again or, once it is used up, the next call may come (\`t\`).

What is no operation counts against no limit, and has the same form of error:

${(["NOT_FOUND", "METHOD_NOT_ALLOWED"] as const).map((code) => `- ${getApiErrorStatus(code)} ${describeErrorCode(code)}`).join("\n")}

Nor does what could not be read as a request, which has no \`X-Request-Id\` either:

${(["BAD_REQUEST", "REQUEST_TIMEOUT", "REQUEST_HEADERS_TOO_LARGE"] as const)
  .map((code) => `- ${getApiErrorStatus(code)} ${describeErrorCode(code)}`)
  .join("\n")}

Beside the codes that each operation names, a body or a query that is not as described is refused with 422
and one entry per problem:

${Object.entries(validationMessages)
  .map(([code, message]) => `- \`${code}\`: ${message}`)
  .join("\n")}`;

/** Describes operations as the paths of an OpenAPI document, from the schemas that serve them. */
export const describeOperations = (operations: readonly Operation[]): ZodOpenApiPathsObject => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation) };
  }
  return paths;
};

const describeOperation = (operation: Operation): ZodOpenApiOperationObject => {
  const { acceptsIdempotencyKey, body, operationId, query, summary, tag } = operation;
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

/** The names of the security schemes of the services' session cookies. */
export const sessionSchemes = {
  "auth-keys": "session",
  "links-api": "sessionLinks",
  "webhook-dispatcher": "sessionWebhooks",
} as const satisfies Record<SessionService, string>;

/** Returns the security scheme of the service that serves a console path. */
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
      "Makes a repeat safe: for 24 hours a call of the same account with the same key and the same bytes as " +
        "body is answered as the first one was, and makes no second link. Use a new one, such as a random " +
        "UUID, for each link, and the same one for each try. Only what was made is kept: a refused call may " +
        "come again under its key, with another body too.",
    ),
});

const describeResponses = ({ responses, mediaTypes = [] }: Operation): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      {
        description: responseDescriptions[status] ?? "Done.",
        headers: status === "303" ? RedirectHeaders : LimitHeaders,
        ...(schema === null
          ? buildTextContent(mediaTypes)
          : { content: { "application/json": { schema } } }),
      },
    ]),
  );

/** Describes content other than JSON as text. */
const buildTextContent = (mediaTypes: readonly string[]) =>
  mediaTypes.length === 0
    ? {}
    : { content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: z.string() }])) };

const responseDescriptions: Readonly<Record<string, string>> = {
  201: "Made.",
  204: "Done; there is nothing to tell.",
  303: "Go on at the address that `Location` tells.",
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
    status === 422 && hasInput ? ["A validation code: something is not as described."] : [];
  return [...codeDescriptions, ...validation, ...describeRetry(operation, status)].join("\n\n");
};

const errorCodeAdvice: Partial<Record<ApiErrorCode, string>> = {
  IDEMPOTENCY_KEY_IN_USE: "Nothing more was done: try again a second later.",
  IDEMPOTENCY_KEY_REUSED: "Nothing was done: another call takes a key of its own.",
};

/** Describes whether a status is worth a retry, and how to retry safely (rule ERROR-4). */
const describeRetry = (operation: Operation, status: number): string[] => {
  const { acceptsIdempotencyKey, unexpectedError = "INTERNAL_ERROR", method } = operation;
  if (status === 429) return ["Try again once `Retry-After` is over: nothing was done."];
  if (status < 500 && status !== getApiErrorStatus(unexpectedError)) return [];
  if (method === "get") return ["Try again, waiting longer each time."];
  return acceptsIdempotencyKey === true
    ? [
        "Try again under the same `Idempotency-Key`, as it may have been done, waiting longer each time.",
      ]
    : ["Try again, waiting longer each time, but look first: it may have been done."];
};

/**
 * The response headers of an error. A path that cannot be decoded is rejected before any rate
 * limit.
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
          message: z.string().meta({ description: "For people; it may change." }),
          code: z.string().meta({ description: "For programs. The set is open." }),
          methods: z.array(z.string()).optional().meta({
            description: "With `REAUTHENTICATION_REQUIRED`: how the account can prove presence.",
          }),
        }),
      )
      .min(1)
      .meta({ description: "The first is what to go by; validation alone tells several." }),
  })
  .meta({ id: "Errors" });

const rateLimitHeader = z.string().meta({
  description: "What is left of the limits that this request counts against (IETF draft).",
  examples: ['"key";r=99;t=1, "ip";r=199;t=1'],
});
const rateLimitPolicyHeader = z.string().meta({
  description: "The limits that this request counts against (IETF draft).",
  examples: ['"key";q=100;w=10, "ip";q=200;w=10'],
});
const retryAfterHeader = z.int().min(1).meta({ description: "Seconds to wait at least." });

const RequestId = z.object({
  "X-Request-Id": z.string().meta({
    description: "The request's own id, by which whoever runs the service finds it in the log.",
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
  Location: z.string().meta({ description: "Where to go on." }),
});

/**
 * Options for the schemas. Responses stay open to new fields because an added field is not a
 * breaking change (rule API-1).
 */
export const documentOptions: CreateDocumentOptions = {
  override: ({ jsonSchema }) => {
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    // The bounds of JavaScript's safe integers are not limits of the API.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
};
