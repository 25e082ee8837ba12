import { webhookTypes } from "@payment-links/contracts";
import { type Schema, getJsonSchema } from "./type-writer.ts";
import { listFilterFields, readPublicDocument } from "./write-sdk-types.ts";

/** The path of the Python SDK's generated module, relative to the root. */
export const pythonTypesFile = "packages/sdk-python/src/payment_links/shapes.py";

/** What a caller may pass besides JSON: exact amounts, and instants. The client converts them. */
const inputTypes: Readonly<Record<string, string>> = {
  "NewPaymentLink.toAmount": "str | Decimal",
  "NewPaymentLink.expirationDate": "str | datetime | None",
};
/** The client raises an exception instead. */
const omittedSchema = "Errors";

/**
 * Writes Python for the data that an integrator sends and receives, from the public OpenAPI
 * document: a `TypedDict` per object with the descriptions of its fields, and the list filter.
 */
export const writePythonTypes = (): string => {
  const document = readPublicDocument();
  const schemas = Object.entries(document.components.schemas).filter(
    ([name]) => name !== omittedSchema,
  );
  const filterFields = listFilterFields(document);
  const filter: Schema = {
    description: "Which links a list has.",
    properties: Object.fromEntries(
      filterFields.map(({ name, schema, description }) => [name, { ...schema, description }]),
    ),
  };
  const statusSchema = filterFields.find(({ name }) => name === "status")?.schema ?? {};
  for (const type of webhookTypes) {
    if (getJsonSchema(document.webhooks[type]?.post.requestBody)?.$ref === undefined)
      throw new Error(`the document has no schema for ${type}`);
  }
  return [
    "# Made by `npm run generate` from the public OpenAPI document. Change nothing here.",
    '"""The data that the service sends and receives, with the names of its fields."""',
    "",
    "from __future__ import annotations",
    "",
    "from datetime import datetime",
    "from decimal import Decimal",
    "from typing import Literal, TypedDict",
    ...schemas.flatMap(([name, schema]) => writeClass(name, schema)),
    ...writeClass("PaymentLinksFilter", filter),
    "",
    `PaymentLinkStatus = ${writeType(statusSchema, "")}`,
    `WebhookType = ${writeType({ enum: [...webhookTypes] }, "")}`,
    '"""The types that this version knows. More may be added."""',
    "",
  ].join("\n");
};

/** Writes a class and, before it, the classes of the objects within it. */
const writeClass = (
  name: string,
  { description, properties = {}, required = [] }: Schema,
): string[] => {
  const fields = Object.entries(properties).map(([field, schema]) => ({
    isRequired: required.includes(field),
    lines: writeField(name, field, schema),
  }));
  const innerClasses = Object.entries(properties).flatMap(([field, schema]) =>
    isObject(schema) ? writeClass(nameInnerClass(name, field), schema) : [],
  );
  const documentation = description === undefined ? [] : [`    ${quoteText(description)}`];
  const requiredLines = fields.filter(({ isRequired }) => isRequired).flatMap(({ lines }) => lines);
  const optionalLines = fields
    .filter(({ isRequired }) => !isRequired)
    .flatMap(({ lines }) => lines);
  // Python 3.10 marks optional fields per class.
  if (optionalLines.length === 0)
    return [...innerClasses, "", `class ${name}(TypedDict):`, ...documentation, ...requiredLines];
  if (requiredLines.length === 0)
    return [
      ...innerClasses,
      "",
      `class ${name}(TypedDict, total=False):`,
      ...documentation,
      ...optionalLines,
    ];
  return [
    ...innerClasses,
    "",
    `class _Required${name}(TypedDict):`,
    ...requiredLines,
    "",
    `class ${name}(_Required${name}, total=False):`,
    ...documentation,
    ...optionalLines,
  ];
};

const writeField = (className: string, field: string, schema: Schema): string[] => {
  const type =
    inputTypes[`${className}.${field}`] ?? writeType(schema, nameInnerClass(className, field));
  return [
    `    ${field}: ${type}`,
    ...(schema.description === undefined ? [] : [`    ${quoteText(schema.description)}`]),
  ];
};

const nameInnerClass = (className: string, field: string): string =>
  `${className}${field.charAt(0).toUpperCase()}${field.slice(1)}`;

const isObject = ({ properties = {} }: Schema): boolean => Object.keys(properties).length > 0;

/** Writes the type of a value. An object with properties is the class `innerClass`. */
const writeType = (schema: Schema, innerClass: string): string => {
  if (schema.$ref !== undefined) return schema.$ref.replace("#/components/schemas/", "");
  if (isObject(schema)) return innerClass;
  const literals = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  if (literals.length > 0)
    return `Literal[${literals.map((value) => JSON.stringify(value)).join(", ")}]`;
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map((option) => writeType(option, innerClass)))].join(" | ");
  }
  if (schema.items !== undefined) return `list[${writeType(schema.items, innerClass)}]`;
  return [schema.type ?? "unknown"]
    .flat()
    .map((type) => typesByJsonType[type] ?? "object")
    .join(" | ");
};

const typesByJsonType: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict[str, object]",
};

const quoteText = (text: string): string =>
  `"""${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"""`;
