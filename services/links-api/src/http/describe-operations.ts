import * as z from "zod";
import type {
  CreateDocumentOptions,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import {
  type Operation,
  type RefusalCode,
  refuse,
  refusalsOf,
  statusOf,
} from "@payment-links/contracts";

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
  const names = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, z.string()]);
  return {
    operationId,
    summary,
    description: descriptionOf(operation),
    tags: [tag],
    security: securityOf(operation),
    requestParams: {
      ...(names.length === 0 ? {} : { path: z.object(Object.fromEntries(names)) }),
      ...(query === undefined ? {} : { query }),
      ...(acceptsIdempotencyKey === true ? { header: IdempotencyHeader } : {}),
    },
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: { ...describeAnswers(operation), ...describeRefusals(operation) },
  };
};

const descriptionOf = ({ caller, description = "", summary }: Operation): string => {
  const isKey = caller !== "anyone" && caller !== "session";
  const scope = isKey ? `Requires the scope \`${caller}\`.` : "";
  return [description, scope].filter((text) => text !== "").join(" ") || `${summary}.`;
};

const securityOf = ({ caller }: Operation): Record<string, string[]>[] => {
  if (caller === "anyone") return [];
  return [caller === "session" ? { session: [] } : { apiKey: [caller] }];
};

const IdempotencyHeader = z.object({
  "Idempotency-Key": z
    .string()
    .max(255)
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/)
    .optional()
    .describe(
      "Makes a repeat safe: the same key with the same body is answered as the first call was, and " +
        "makes no second link. Kept for 24 hours, per account.",
    ),
});

const describeAnswers = ({ answers, media = [] }: Operation): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: answerTexts[status] ?? "Done.",
        headers: status === "303" ? RedirectHeaders : LimitHeaders,
        ...(schema === null ? contentIn(media) : { content: { "application/json": { schema } } }),
      },
    ]),
  );

/** What is not JSON is told as text. */
const contentIn = (media: readonly string[]) =>
  media.length === 0
    ? {}
    : { content: Object.fromEntries(media.map((type) => [type, { schema: z.string() }])) };

const answerTexts: Readonly<Record<string, string>> = {
  201: "Made.",
  204: "Done; there is nothing to tell.",
  303: "Go on at the address that `Location` tells.",
};

const describeRefusals = (operation: Operation): ZodOpenApiResponsesObject => {
  const codes = refusalsOf(operation);
  const isRead = operation.body !== undefined || operation.query !== undefined;
  const statuses = new Set([...codes.map(statusOf), ...(isRead ? [422] : [])]);
  return Object.fromEntries(
    [...statuses].map((status) => [
      String(status),
      {
        description: refusalText(
          codes.filter((code) => statusOf(code) === status),
          status,
        ),
        headers: status === 429 ? RetryHeaders : LimitHeaders,
        content: { "application/json": { schema: Errors } },
      },
    ]),
  );
};

const refusalText = (codes: readonly RefusalCode[], status: number): string => {
  const validation = status === 422 ? ["Or a validation code: something is not as described."] : [];
  const named = codes.map((code) => `\`${code}\`: ${refuse(code).entries[0]?.message ?? ""}`);
  return [...named, ...validation].join("\n\n");
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
      .min(1),
  })
  .meta({ id: "Errors" });

const LimitHeaders = z.object({
  RateLimit: z.string().meta({
    description: "What is left of the limits that this request counts against (IETF draft).",
    header: { id: "RateLimit" },
  }),
  "RateLimit-Policy": z.string().meta({
    description: "The limits that this request counts against (IETF draft).",
    header: { id: "RateLimit-Policy" },
  }),
});

const RetryHeaders = LimitHeaders.extend({
  "Retry-After": z
    .int()
    .min(0)
    .meta({
      description: "Seconds to wait.",
      header: { id: "Retry-After" },
    }),
});

const RedirectHeaders = LimitHeaders.extend({
  Location: z.string().meta({ description: "Where to go on." }),
});

/** How schemas are written: answers stay open, as a further field is no break (rule API-1). */
export const documentOptions: CreateDocumentOptions = {
  override: ({ jsonSchema }) => {
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    // The bounds of every JavaScript integer say nothing of ours.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
};
