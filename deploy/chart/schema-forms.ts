/** A JSON schema, or a part of one. */
export type Schema = { readonly [word: string]: unknown };
type Schemas = Readonly<Record<string, Schema>>;

/** Text that matches a pattern; any text if none is given. */
export const text = (pattern?: string, more?: Schema): Schema => ({
  type: "string",
  ...(pattern === undefined ? {} : { pattern }),
  ...more,
});
/** One of these words. */
export const oneOf = (...choices: string[]): Schema => ({ type: "string", enum: choices });
/** On or off. */
export const flag: Schema = { type: "boolean" };
/** A whole number within bounds. */
export const count = (minimum: number, maximum: number): Schema => ({
  type: "integer",
  minimum,
  maximum,
});
/** A number within bounds. */
export const number = (minimum: number, maximum: number): Schema => ({
  type: "number",
  minimum,
  maximum,
});
/** Any number of items, unless more is said. */
export const list = (items: Schema, more?: Schema): Schema => ({ type: "array", items, ...more });
/** What Kubernetes reads and the chart does not, optionally with names that are required. */
export const manifest = (...required: string[]): Schema => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
});
/** The same, or null. */
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema["type"], "null"] });
/**
 * Exactly these names, all of them, so that a misspelt one is refused. Helm removes what is null before
 * it validates, so what may be null may be away.
 */
export const group = (description: string | undefined, properties: Schemas): Schema => ({
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
export const some = (properties: Schemas): Schema => ({
  type: "object",
  additionalProperties: false,
  patternProperties: Object.fromEntries(
    Object.entries(properties).map(([name, form]) => [`^${name}$`, form]),
  ),
});

/** A reference to a form under `definitions`. */
export const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
/** The same if more is said of it: draft 7 ignores everything beside a `$ref`. */
export const like = (name: string, more?: Schema): Schema => ({
  allOf: [ref(name), ...(more === undefined ? [] : [more])],
});
/** The form with its description, if values.yaml does not have one. */
export const say = (description: string, schema: Schema): Schema => ({ description, ...schema });
