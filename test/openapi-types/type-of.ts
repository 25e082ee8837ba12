/** What of a JSON Schema our documents use. */
export type Schema = {
  $ref?: string;
  anyOf?: Schema[];
  const?: unknown;
  description?: string;
  enum?: unknown[];
  items?: Schema;
  not?: object;
  properties?: Record<string, Schema>;
  required?: string[];
  type?: string | string[];
};

/** What a body or an answer is written in. */
export type Content = { content?: Record<string, { schema: Schema }> };

export const jsonOf = (content: Content | undefined): Schema | undefined =>
  content?.content?.["application/json"]?.schema;

/** A field of an object, its type as TypeScript. */
export type Field = { name: string; type: string; isRequired: boolean; description: string };

/** The names of the shapes that a thing refers to, and that these refer to in turn. */
export const reach = (
  schemas: Readonly<Record<string, Schema>>,
  from: unknown,
  found = new Set<string>(),
): Set<string> => {
  const names = JSON.stringify(from).matchAll(/#\/components\/schemas\/(\w+)/g);
  for (const [, name = ""] of names) {
    if (found.has(name)) continue;
    found.add(name);
    reach(schemas, schemas[name], found);
  }
  return found;
};

/** Makes what writes a schema as a type of TypeScript, its objects in the given way. */
export const createTypeOf = (writeObject: (fields: readonly Field[]) => string) => {
  const typeOf = (schema: Schema): string => {
    if (schema.$ref !== undefined) return schema.$ref.replace("#/components/schemas/", "");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined && schema.enum.length > 0) {
      return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    }
    if (schema.not !== undefined) return "never";
    if (schema.properties !== undefined) return objectOf(schema.properties, schema.required ?? []);
    if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
    if (schema.items !== undefined) return `(${typeOf(schema.items)})[]`;
    const types = [schema.type ?? "unknown"].flat().map((type) => plainTypes[type] ?? "unknown");
    return types.join(" | ");
  };
  const objectOf = (properties: Record<string, Schema>, required: readonly string[]): string =>
    writeObject(
      Object.entries(properties).map(([name, schema]) => ({
        name,
        type: typeOf(schema),
        isRequired: required.includes(name),
        description: schema.description ?? "",
      })),
    );
  return typeOf;
};

const plainTypes: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
  object: "Record<string, unknown>",
};
