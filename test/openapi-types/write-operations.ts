import {
  auditActions,
  auditActorKinds,
  createCatalogue,
  apiErrorCodes,
  validationMessages,
} from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
// Imports from `src`, because the service does not export the document. A running service would
// need a database.
import { describeConsoleApi } from "../../services/links-api/src/http/describe-console-api.ts";
import {
  type Content,
  type Field,
  type Schema,
  createTypeWriter,
  getJsonSchema,
  collectSchemaNames,
} from "./type-writer.ts";

/** The path of the console's generated module, relative to the root. */
export const operationsFile = "packages/console/app/api/operations.ts";

type Operation = {
  operationId: string;
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Operators can replace the catalogue, so the types must not contain token IDs. */
const emptyCatalogue = createCatalogue({ chains: [], tokens: [] });

const readDocument = (): Document =>
  JSON.parse(
    JSON.stringify(
      describeConsoleApi({
        baseUrl: "http://127.0.0.1",
        catalogue: emptyCatalogue,
        clock: systemClock,
      }),
    ),
  ) as Document;

/**
 * Writes TypeScript for the console's requests and responses from its OpenAPI document: the
 * schemas, and the types, method and path of each operation.
 */
export const writeOperations = (): string => {
  const { paths, components } = readDocument();
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/console/api/"))
    .flatMap(([path, operationsByMethod]) =>
      Object.entries(operationsByMethod).map(([method, operation]) => ({
        path,
        method,
        operation,
      })),
    );
  const usedNames = collectSchemaNames(components.schemas, operations);
  const typeDeclarations = Object.entries(components.schemas)
    .filter(([name]) => usedNames.has(name))
    .map(([name, schema]) => `export type ${name} = ${writeType(schema)};`);
  return [
    "// Made by `npm run generate` from the console's OpenAPI document. Change nothing here.",
    ...typeDeclarations,
    ...writeEnumTypes(),
    "/** The input and response of each operation. */",
    "export type Operations = {",
    ...operations.map(
      ({ operation }) => `  ${operation.operationId}: ${writeOperation(operation)};`,
    ),
    "};",
    "/** Where each operation is found. */",
    "export const operations = {",
    ...operations.map(
      ({ path, method, operation }) =>
        `  ${operation.operationId}: ["${method.toUpperCase()}", "${path}"],`,
    ),
    "} as const satisfies Record<keyof Operations, readonly [string, string]>;",
    "",
  ].join("\n");
};

/**
 * Writes the enums that the document leaves open for future values. The console needs a text for
 * every current value.
 */
const writeEnumTypes = (): string[] =>
  Object.entries({
    ApiErrorCode: apiErrorCodes,
    ValidationCode: Object.keys(validationMessages),
    AuditAction: auditActions,
    AuditActorKind: auditActorKinds,
  }).map(([name, values]) => `export type ${name} = ${writeType({ enum: [...values] })};`);

const writeOperation = ({ parameters = [], requestBody, responses }: Operation): string => {
  const filterParameters = (location: string) =>
    parameters.filter((parameter) => parameter.in === location);
  const writeParameters = (location: string): string => {
    const fields = filterParameters(location).map(({ name, required, schema }) =>
      required === true
        ? `${JSON.stringify(name)}: ${writeType(schema)}`
        : `${JSON.stringify(name)}?: ${writeType(schema)} | undefined`,
    );
    return `{ ${fields.join("; ")} }`;
  };
  const body = getJsonSchema(requestBody);
  const isQueryRequired = filterParameters("query").some(({ required }) => required === true);
  const inputParts = [
    ...(filterParameters("path").length === 0 ? [] : [`path: ${writeParameters("path")}`]),
    ...(filterParameters("query").length === 0
      ? []
      : [`query${isQueryRequired ? "" : "?"}: ${writeParameters("query")}`]),
    ...(filterParameters("header").length === 0 ? [] : [`header?: ${writeParameters("header")}`]),
    ...(body === undefined ? [] : [`body: ${writeType(body)}`]),
    // A body that is not JSON is a file.
    ...(requestBody === undefined || body !== undefined ? [] : ["body: Blob"]),
  ];
  const inputType = inputParts.length === 0 ? "{}" : `{ ${inputParts.join("; ")} }`;
  return `{ input: ${inputType}; response: ${writeResponseType(responses)} }`;
};

const writeResponseType = (responses: Record<string, Content>): string => {
  const types = Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([, response]) => getJsonSchema(response))
    .map((schema) => (schema === undefined ? "undefined" : writeType(schema)));
  return [...new Set(types)].join(" | ");
};

const writeInlineObject = (fields: readonly Field[]): string =>
  `{ ${fields.map(({ name, type, isRequired }) => `${name}${isRequired ? "" : "?"}: ${type}`).join("; ")} }`;

const writeType = createTypeWriter(writeInlineObject);
