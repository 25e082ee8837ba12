import { type Schema, apiData } from "./api-data.ts";

const { schemas } = apiData.document.components;

/** Returns the schema that a reference names, or the schema itself. */
export const resolveSchema = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : { ...schemas[getSchemaName(schema.$ref)], ...schema };

const getSchemaName = (reference: string): string => reference.split("/").at(-1) ?? "";

/**
 * Writes the fields of an object as a table. Fields of nested objects follow their object. A
 * request marks the required ones; a response always has all fields.
 */
export const writeFields = (schema: Schema, { isRequest = false } = {}): string =>
  [
    "| Field | Type | Description |",
    "| --- | --- | --- |",
    ...listRows(schema, "", isRequest),
  ].join("\n");

const listRows = (schema: Schema, prefix: string, isRequest: boolean): string[] => {
  const { properties = {}, required = [] } = resolveSchema(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const objectSchema = findObject(field);
    const isRequired = isRequest && required.includes(name);
    const type = `${describeType(field)}${isRequired ? ", **required**" : ""}`;
    const row = `| \`${path}\` | ${type} | ${escapeCell(describe(field))} |`;
    if (objectSchema === undefined) return [row];
    const isList = resolveSchema(field).type === "array";
    return [row, ...listRows(objectSchema, `${path}${isList ? "[]" : ""}.`, isRequest)];
  });
};

const describe = (schema: Schema): string =>
  schema.description ?? resolveSchema(schema).description ?? "";

/** Returns the object that a field contains, also in a list or next to null. */
const findObject = (schema: Schema): Schema | undefined => {
  const resolved = resolveSchema(schema);
  const candidates = [resolved, ...(resolved.anyOf ?? []), resolved.items ?? {}].map(resolveSchema);
  return candidates.find(({ properties }) => properties !== undefined);
};

/** Describes a type in the words of JSON, with its values and bounds. */
export const describeType = (schema: Schema): string => {
  const {
    anyOf,
    enum: values,
    format,
    items,
    maximum,
    maxLength,
    minimum,
    type,
    ...other
  } = resolveSchema(schema);
  if (anyOf !== undefined) return [...new Set(anyOf.map(describeType))].join(" or ");
  if (other.const !== undefined) return `\`${JSON.stringify(other.const)}\``;
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (type === "array") return `list of ${describeType(items ?? {})}`;
  const name = [type ?? "any"].flat().join(" or ");
  if (format === "date-time") return `${name}, date-time`;
  if (maxLength !== undefined) return `${name}, at most ${maxLength} characters`;
  if (minimum !== undefined && maximum !== undefined) return `${name}, ${minimum} to ${maximum}`;
  return name;
};

/** Escapes a text for a table's cell. */
export const escapeCell = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
