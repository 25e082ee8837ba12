import { readFileSync } from "node:fs";

/** A JSON Schema of the OpenAPI document. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
};

export type Parameter = {
  in: string;
  name: string;
  description?: string;
  schema: Schema;
};

type Content = { "application/json": { schema: Schema } };

export type ApiOperation = {
  operationId: string;
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

type ApiDocument = {
  paths: Record<string, Record<string, ApiOperation>>;
  webhooks: Record<string, { post: ApiOperation & { requestBody: { content: Content } } }>;
  components: { schemas: Record<string, Schema> };
};

/** A webhook as the service sends it: the headers and the exact body. */
type SampleWebhook = { headers: Record<string, string>; body: string };

/** A request and the bodies of its responses, by status. */
export type OperationSample = {
  path: string;
  body?: unknown;
  responses: Record<string, unknown>;
};

/**
 * What `npm run generate` writes from the services' code: the OpenAPI document of the public API,
 * and samples that the serializers of the services have written.
 */
type ApiData = {
  document: ApiDocument;
  operations: Record<string, OperationSample>;
  webhooks: Record<string, SampleWebhook>;
};

export const apiData = JSON.parse(
  readFileSync(new URL("../../generated/api.json", import.meta.url), "utf8"),
) as ApiData;
