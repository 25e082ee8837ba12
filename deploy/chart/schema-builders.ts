/** A JSON schema, or a part of one. */
export type Schema = { readonly [keyword: string]: unknown };
type Schemas = Readonly<Record<string, Schema>>;

/** A string that matches the pattern, or any string if there is no pattern. */
export const stringSchema = (pattern?: string, extraKeywords?: Schema): Schema => ({
  type: "string",
  ...(pattern === undefined ? {} : { pattern }),
  ...extraKeywords,
});
/** One of the given strings. */
export const enumSchema = (...choices: string[]): Schema => ({ type: "string", enum: choices });
export const booleanSchema: Schema = { type: "boolean" };
/** An integer within bounds. */
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
/** An array of any length, unless extra keywords restrict it. */
export const arraySchema = (items: Schema, extraKeywords?: Schema): Schema => ({
  type: "array",
  items,
  ...extraKeywords,
});
/** An object that only Kubernetes validates, optionally with required names. */
export const openObjectSchema = (...required: string[]): Schema => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
});
/** The same schema, or null. */
export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema["type"], "null"] });
/**
 * An object with exactly these names, so that a misspelled name is rejected. All names are required
 * unless they are nullable, because Helm removes null values before validation.
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

/** An object with any of these names and no others: Kubernetes fields that values.yaml may omit. */
export const optionalObjectSchema = (properties: Schemas): Schema => ({
  type: "object",
  additionalProperties: false,
  patternProperties: Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [`^${name}$`, schema]),
  ),
});

/** A reference to a schema under `definitions`. */
export const createRef = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
/** A reference with extra keywords: draft 7 ignores keywords next to `$ref`. */
export const extendRef = (name: string, extraKeywords?: Schema): Schema => ({
  allOf: [createRef(name), ...(extraKeywords === undefined ? [] : [extraKeywords])],
});
/** The schema with a description, for values that values.yaml does not describe. */
export const withDescription = (description: string, schema: Schema): Schema => ({
  description,
  ...schema,
});
