import * as z from "zod";
import {
  type RefusalCode,
  type Scope,
  type ValidationCode,
  WebhookBody,
  refuse,
  statusOf,
  webhookTypes,
} from "@payment-links/contracts";
import type { Route, RouteDocument } from "@payment-links/http";

type Json = Record<string, unknown>;
type DocumentedRoute = Route & { document: RouteDocument };

/**
 * Describes documented routes as OpenAPI 3.1, from the same schemas that serve them: requests as they
 * are read, answers as they are written. Answers stay open: adding a field is no break (rule API-1).
 */
export const describeApi = (routes: readonly Route[], { baseUrl }: { baseUrl: string }): Json => {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of routes.filter(isDocumented)) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: describeRoute(route, schemas) };
  }
  const webhooks = Object.fromEntries(
    webhookTypes.map((type) => [type, { post: describeWebhook(type, schemas) }]),
  );
  return {
    openapi: "3.1.1",
    info: { title: "Payment Links", version: "1.0.0", description: introduction },
    servers: [{ url: baseUrl }],
    paths,
    webhooks,
    components: {
      schemas: { ...schemas, Errors: errorsSchema },
      headers: sharedHeaders,
      securitySchemes: { apiKey: apiKeyScheme },
    },
  };
};

const introduction =
  "Request payments through shareable payment links. Amounts are plain decimal strings. A link that " +
  "was completed by its number of payments may be underpaid, and one completed by amount may be " +
  "overpaid: always compare receivedAmount with the amount that you asked for. Branch on an error's " +
  "code, never on its message.";

const isDocumented = (route: Route): route is DocumentedRoute => route.document !== undefined;

const describeRoute = (route: DocumentedRoute, schemas: Json): Json => {
  const { document, caller } = route;
  const parameters = [
    ...[...route.path.matchAll(/:(\w+)/g)].map(([, name]) => describePathParameter(name ?? "")),
    ...(document.query === undefined ? [] : describeQuery(document.query)),
    ...(document.acceptsIdempotencyKey === true ? [idempotencyKeyParameter] : []),
  ];
  return {
    operationId: document.operationId,
    summary: document.summary,
    ...(caller.by === "api-key"
      ? {
          description: `Requires the scope \`${caller.scope}\`.`,
          security: [{ apiKey: [caller.scope] }],
        }
      : { security: [] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(document.body === undefined ? {} : { requestBody: describeBody(document.body, schemas) }),
    responses: {
      200: {
        description: "Done.",
        headers: rateLimitHeaderRefs,
        content: { "application/json": { schema: addSchema(document.answer, "output", schemas) } },
      },
      ...describeRefusals(document),
    },
  };
};

const describePathParameter = (name: string): Json => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string" },
});

const describeQuery = (query: z.ZodObject): Json[] => {
  const schema = toJsonSchema(query, "input");
  const required: unknown = schema["required"];
  return Object.entries(schema["properties"] ?? {}).map(([name, parameter]) => ({
    name,
    in: "query",
    required: Array.isArray(required) && required.includes(name),
    schema: parameter,
  }));
};

const idempotencyKeyParameter: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes a repeat safe: the same key with the same body is answered as the first call was, and " +
    "makes no second link. Kept for 24 hours, per account.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
};

const describeBody = (body: z.ZodType, schemas: Json): Json => ({
  required: true,
  content: { "application/json": { schema: addSchema(body, "input", schemas) } },
});

/** What a body or a query can be refused for, beside what the catalogue names. */
const bodyCodes: readonly ValidationCode[] = [
  "missing",
  "json_invalid",
  "model_attributes_type",
  "decimal_type",
  "decimal_parsing",
  "decimal_max_digits",
  "finite_number",
  "greater_than",
  "string_type",
  "string_too_long",
  "string_pattern_mismatch",
  "int_type",
  "int_parsing",
  "int_from_float",
  "greater_than_equal",
  "less_than_equal",
  "datetime_type",
  "datetime_from_date_parsing",
  "datetime_future",
];
const queryCodes: readonly ValidationCode[] = [
  "enum",
  "int_type",
  "int_parsing",
  "greater_than_equal",
  "less_than_equal",
];

const describeRefusals = (document: RouteDocument): Json => {
  const codesByStatus = new Map<number, string[]>();
  const add = (status: number, code: string) =>
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  for (const code of document.refusals) {
    if (code !== "validation") add(statusOf(code), code);
    else for (const rule of document.body === undefined ? queryCodes : bodyCodes) add(422, rule);
  }
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => [
      status,
      {
        description: `${descriptionOf(document.refusals, status)} Codes: ${codes.join(", ")}.`,
        headers:
          status === 429
            ? { ...rateLimitHeaderRefs, "Retry-After": headerRef("Retry-After") }
            : rateLimitHeaderRefs,
        content: { "application/json": { schema: { $ref: "#/components/schemas/Errors" } } },
      },
    ]),
  );
};

const descriptionOf = (refusals: RouteDocument["refusals"], status: number): string => {
  const named = refusals
    .filter((code): code is RefusalCode => code !== "validation")
    .filter((code) => statusOf(code) === status)
    .map((code) => refuse(code).entries[0]?.message ?? "");
  return named.length === 0 ? "The request is not valid." : named.join(" ");
};

const describeWebhook = (type: (typeof webhookTypes)[number], schemas: Json): Json => ({
  operationId: type.replaceAll(/[._](\w)/g, (_all, letter: string) => letter.toUpperCase()),
  summary: webhookSummaries[type],
  description:
    "Sent to every enabled endpoint of the owner, at least once and in no order. Verify the signature " +
    "over the raw bytes, de-duplicate on the event's id, and compare receivedAmount with amount.",
  security: [],
  parameters: [
    describeHeader(
      "Service-Signature",
      "`v1=` and the hex HMAC-SHA256 of timestamp, period, body.",
    ),
    describeHeader("Service-Timestamp", "Unix seconds at which this attempt was signed."),
    describeHeader("Service-Event-Id", "The same at every retry; equals `id` in the body."),
  ],
  requestBody: {
    required: true,
    content: { "application/json": { schema: addSchema(WebhookBody, "output", schemas) } },
  },
  responses: { "2XX": { description: "Received; nothing more is sent for this event." } },
});

const webhookSummaries: Readonly<Record<(typeof webhookTypes)[number], string>> = {
  "payment_link.transaction.succeeded": "A payment against the link has settled.",
  "payment_link.completed": "A payment has completed the link.",
};

const describeHeader = (name: string, description: string): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

const errorsSchema: Json = {
  type: "object",
  required: ["errors"],
  properties: {
    errors: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["message", "code"],
        properties: { message: { type: "string" }, code: { type: "string" } },
      },
    },
  },
};

const sharedHeaders: Record<string, Json> = {
  RateLimit: {
    description: "What is left of the limits that this request counts against (IETF draft).",
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description: "The limits that this request counts against (IETF draft).",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
};

const headerRef = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

const rateLimitHeaderRefs: Json = {
  RateLimit: headerRef("RateLimit"),
  "RateLimit-Policy": headerRef("RateLimit-Policy"),
};

const scopeTexts: Readonly<Record<Scope, string>> = {
  "payment_link:create": "creating payment links",
  "payment_link:read": "listing payment links",
};

const apiKeyScheme: Json = {
  type: "apiKey",
  in: "header",
  name: "X-API-Key",
  description: `A key acts as its owner, within its scopes: ${Object.entries(scopeTexts)
    .map(([scope, text]) => `\`${scope}\` (${text})`)
    .join(", ")}.`,
};

/** Adds a schema, and those within it that have a name, to the components. */
const addSchema = (schema: z.ZodType, io: "input" | "output", schemas: Json): Json => {
  const { $schema: _dialect, $defs: named, ...described } = toJsonSchema(schema, io);
  Object.assign(schemas, named);
  return described;
};

const toJsonSchema = (schema: z.ZodType, io: "input" | "output"): Json => {
  const described = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // The bounds of every JavaScript integer say nothing of ours.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const text = JSON.stringify(described).replaceAll('"#/$defs/', '"#/components/schemas/');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
};
