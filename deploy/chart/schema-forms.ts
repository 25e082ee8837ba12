/** A JSON schema, or a part of one. */
export type Schema = { readonly [word: string]: unknown };
type Schemas = Readonly<Record<string, Schema>>;

/** Text of a pattern; any text without one. */
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
/** What Kubernetes reads and the chart does not, perhaps with names that must be there. */
export const manifest = (...required: string[]): Schema => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
});
/** Exactly these names, all of them, so that a misspelt one is refused. */
export const group = (description: string | undefined, properties: Schemas): Schema => ({
  type: "object",
  ...(description === undefined ? {} : { description }),
  additionalProperties: false,
  required: Object.keys(properties).filter((name) => name !== "global"),
  properties,
});

/** A form that stands under `definitions`. */
export const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
/** The same where more is said of it: draft 7 reads nothing beside a `$ref`. */
export const like = (name: string, more?: Schema): Schema => ({
  allOf: [ref(name), ...(more === undefined ? [] : [more])],
});
/** The form with what it is for, where values.yaml does not say it. */
export const say = (description: string, schema: Schema): Schema => ({ description, ...schema });

/** Holds where the value at a dotted path is given and has the form. */
export const where = (path: string, form: Schema): Schema => {
  const [name = "", ...rest] = path.split(".");
  const inner = rest.length === 0 ? form : where(rest.join("."), form);
  return { required: [name], properties: { [name]: inner } };
};
/** Holds where the part of the values at a path is switched on. */
export const isOn = (path: string): Schema => where(`${path}.enabled`, { const: true });
/** Where the condition holds, the value at the path, if it is given, has the form. */
export const must = (condition: Schema, path: string, form: Schema): Schema => ({
  if: condition,
  // oxlint-disable-next-line unicorn/no-thenable -- The word is JSON Schema's.
  then: path
    .split(".")
    .reduceRight<Schema>((inner, name) => ({ properties: { [name]: inner } }), form),
});
