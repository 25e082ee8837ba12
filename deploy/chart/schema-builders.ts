/** A JSON schema, or a part of one. */
export type Schema = { readonly [keyword: string]: unknown };
type Schemas = Readonly<Record<string, Schema>>;

/** Text that matches a pattern; any text if none is given. */
export const stringSchema = (pattern?: string, extraKeywords?: Schema): Schema => ({
  type: "string",
  ...(pattern === undefined ? {} : { pattern }),
  ...extraKeywords,
});
/** One of these words. */
export const enumSchema = (...choices: string[]): Schema => ({ type: "string", enum: choices });
/** On or off. */
export const booleanSchema: Schema = { type: "boolean" };
/** A whole number within bounds. */
export const integerSchema = (minimum: number, maximum: number): Schema => ({
  type: "integer",
  minimum,
  maximum,
});
/** A number within bounds. */
export const numberSchema = (minimum: number, maximum: number): Schema => ({
  type: "number",
  minimum,
  maximum,
});
/** Any number of items, unless more is said. */
export const arraySchema = (items: Schema, extraKeywords?: Schema): Schema => ({
  type: "array",
  items,
  ...extraKeywords,
});
/** What Kubernetes reads and the chart does not, optionally with names that are required. */
export const openObjectSchema = (...required: string[]): Schema => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
});
/** The same, or null. */
export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema["type"], "null"] });
/**
 * Exactly these names, all of them, so that a misspelt one is refused. Helm removes what is null before
 * it validates, so what may be null may be away.
 */
export const objectSchema = (description: string | undefined, properties: Schemas): Schema => ({
  type: "object",
  ...(description === undefined ? {} : { description }),
  additionalProperties: false,
  required: Object.entries(properties)
    .filter(
      ([name, { type }]) => name !== "global" && !(Array.isArray(type) && type.includes("null")),
    )
    .map(([name]) => name),
  properties,
});

/** Any of these names, and no other: what Kubernetes has and values.yaml need not name. */
export const optionalObjectSchema = (properties: Schemas): Schema => ({
  type: "object",
  additionalProperties: false,
  patternProperties: Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [`^${name}$`, schema]),
  ),
});

/** A reference to a form under `definitions`. */
export const createRef = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
/** The same if more is said of it: draft 7 ignores everything beside a `$ref`. */
export const extendRef = (name: string, extraKeywords?: Schema): Schema => ({
  allOf: [createRef(name), ...(extraKeywords === undefined ? [] : [extraKeywords])],
});
/** The form with its description, if values.yaml does not have one. */
export const withDescription = (description: string, schema: Schema): Schema => ({
  description,
  ...schema,
});
