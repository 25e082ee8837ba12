import { createLinkBody, webhookTypes } from "@payment-links/contracts";
// Imports from `src`, because the service does not export the document. A running service would
// need a database.
import { describePublicApi } from "../../services/links-api/src/http/describe-public-api.ts";
import {
  type Content,
  type Field,
  type Schema,
  createTypeWriter,
  getJsonSchema,
} from "./type-writer.ts";

/** The path of the SDK's generated module, relative to the root. */
export const sdkTypesFile = "packages/sdk/src/shapes.ts";

type Parameter = { in: string; name: string; schema: Schema; description?: string };
type Operation = { operationId: string; parameters?: Parameter[] };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { requestBody: Content } }>;
  components: { schemas: Record<string, Schema> };
};

const readDocument = (): Document =>
  JSON.parse(
    JSON.stringify(
      describePublicApi({
        baseUrl: "http://127.0.0.1",
        createBody: createLinkBody(() => new Date()),
        webhookHeaderPrefix: "Service",
      }),
    ),
  ) as Document;

/**
 * Returns the operation IDs of the public API, except those of test mode. They are also the names of
 * the SDK's methods.
 */
export const publicOperationIds = (): readonly string[] => {
  const document = readDocument();
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith("/v1/test/"));
  return listOperations({ ...document, paths: Object.fromEntries(paths) }).map(
    ({ operationId }) => operationId,
  );
};

/** The schemas that only the operations of test mode use. The SDK has no methods for these. */
const testModeSchemas = new Set(["SimulatedPayment", "SimulatedPaymentRequest"]);

/**
 * Writes TypeScript for the data that an integrator sends and receives, from the public OpenAPI
 * document: each schema with its field descriptions, the list filter, and the webhooks by type.
 */
export const writeSdkTypes = (): string => {
  const document = readDocument();
  const { components, webhooks } = document;
  const listOperation = listOperations(document).find(
    ({ operationId }) => operationId === "listPaymentLinks",
  );
  if (listOperation === undefined) throw new Error("the document has no list operation");
  const filterFields = (listOperation.parameters ?? []).map(
    ({ name, schema, description = "" }) => ({
      name,
      type: writeType(schema),
      isRequired: false,
      description: schema.description ?? description,
    }),
  );
  return [
    "// Made by `npm run generate` from the public OpenAPI document. Change nothing here.",
    ...Object.entries(components.schemas)
      .filter(([name]) => !testModeSchemas.has(name))
      .map(([name, schema]) => `export type ${name} = ${writeType(schema)};`),
    "/** Which links a list has. */",
    `export type PaymentLinksFilter = ${writeDocumentedObject(filterFields)};`,
    "/** The bodies of webhooks by their type, as far as this version knows types. */",
    "export type WebhookBodies = {",
    ...webhookTypes.map((type) => `  "${type}": ${writeWebhookBody(webhooks[type])};`),
    "};",
    "",
  ].join("\n");
};

const listOperations = ({ paths }: Document): Operation[] =>
  Object.values(paths).flatMap((operationsByMethod) => Object.values(operationsByMethod));

const writeWebhookBody = (webhook: Document["webhooks"][string] | undefined): string => {
  const schema = getJsonSchema(webhook?.post.requestBody);
  if (schema === undefined) throw new Error("a webhook is missing in the document");
  return writeType(schema);
};

/** Writes one field per line after its description. An optional field can be undefined. */
const writeDocumentedObject = (fields: readonly Field[]): string => {
  if (fields.length === 0) return "Record<string, unknown>";
  const lines = fields.flatMap(({ name, type, isRequired, description }) => [
    ...(description === "" ? [] : [`/** ${description} */`]),
    isRequired ? `${name}: ${type};` : `${name}?: ${type} | undefined;`,
  ]);
  return ["{", ...lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`), "}"].join("\n");
};

const writeType = createTypeWriter(writeDocumentedObject);
