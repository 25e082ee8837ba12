import {
  auditActions,
  auditActorKinds,
  createCatalogue,
  refusalCodes,
  validationMessages,
} from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
// The document is no part of the service's face, and a running service would need a database.
import { describeConsoleApi } from "../../services/links-api/src/http/describe-console-api.ts";
import { type Content, type Field, type Schema, createTypeOf, jsonOf, reach } from "./type-of.ts";

/** The generated module of the console, seen from the root. */
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

/** The catalogue may be replaced, so that no token's id belongs into the types. */
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
 * Writes what the console calls and what it is answered with as TypeScript, from the console's own
 * OpenAPI document: the shapes, the types of each operation, and its method and path.
 */
export const writeOperations = (): string => {
  const { paths, components } = readDocument();
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/console/api/"))
    .flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
    );
  const used = reach(components.schemas, operations);
  const shapes = Object.entries(components.schemas)
    .filter(([name]) => used.has(name))
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`);
  return [
    "// Made by `npm run generate` from the console's OpenAPI document. Change nothing here.",
    ...shapes,
    ...describeWords(),
    "/** What each operation takes and answers. */",
    "export type Operations = {",
    ...operations.map(({ operation }) => `  ${operation.operationId}: ${describe(operation)};`),
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

/** The document leaves these open, for later ones; what there is today must have words in the console. */
const describeWords = (): string[] =>
  Object.entries({
    RefusalCode: refusalCodes,
    ValidationCode: Object.keys(validationMessages),
    AuditAction: auditActions,
    AuditActorKind: auditActorKinds,
  }).map(([name, values]) => `export type ${name} = ${typeOf({ enum: [...values] })};`);

const describe = ({ parameters = [], requestBody, responses }: Operation): string => {
  const given = (place: string) => parameters.filter((one) => one.in === place);
  const named = (place: string): string => {
    const fields = given(place).map(({ name, required, schema }) =>
      required === true
        ? `${JSON.stringify(name)}: ${typeOf(schema)}`
        : `${JSON.stringify(name)}?: ${typeOf(schema)} | undefined`,
    );
    return `{ ${fields.join("; ")} }`;
  };
  const body = jsonOf(requestBody);
  const isNeeded = given("query").some(({ required }) => required === true);
  const parts = [
    ...(given("path").length === 0 ? [] : [`path: ${named("path")}`]),
    ...(given("query").length === 0 ? [] : [`query${isNeeded ? "" : "?"}: ${named("query")}`]),
    ...(given("header").length === 0 ? [] : [`header?: ${named("header")}`]),
    ...(body === undefined ? [] : [`body: ${typeOf(body)}`]),
  ];
  const input = parts.length === 0 ? "{}" : `{ ${parts.join("; ")} }`;
  return `{ input: ${input}; answer: ${answerOf(responses)} }`;
};

const answerOf = (responses: Record<string, Content>): string => {
  const types = Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([, response]) => jsonOf(response))
    .map((schema) => (schema === undefined ? "undefined" : typeOf(schema)));
  return [...new Set(types)].join(" | ");
};

const inOneLine = (fields: readonly Field[]): string =>
  `{ ${fields.map(({ name, type, isRequired }) => `${name}${isRequired ? "" : "?"}: ${type}`).join("; ")} }`;

const typeOf = createTypeOf(inOneLine);
