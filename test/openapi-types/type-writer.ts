/** The subset of JSON Schema that our documents use. */
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

/** The content of a request or response body. */
export type Content = { content?: Record<string, { schema: Schema }> };

export const getJsonSchema = (content: Content | undefined): Schema | undefined =>
  content?.content?.["application/json"]?.schema;

/** A field of an object, with its TypeScript type. */
export type Field = { name: string; type: string; isRequired: boolean; description: string };

/** Returns the names of the schemas that a value refers to, directly or indirectly. */
export const collectSchemaNames = (
  schemas: Readonly<Record<string, Schema>>,
  value: unknown,
  foundNames = new Set<string>(),
): Set<string> => {
  const names = JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g);
  for (const [, name = ""] of names) {
    if (foundNames.has(name)) continue;
    foundNames.add(name);
    collectSchemaNames(schemas, schemas[name], foundNames);
  }
  return foundNames;
};

/**
 * Creates a function that writes a schema as a TypeScript type. `writeObject` writes the object
 * types.
 */
export const createTypeWriter = (writeObject: (fields: readonly Field[]) => string) => {
  const writeType = (schema: Schema): string => {
    if (schema.$ref !== undefined) return schema.$ref.replace("#/components/schemas/", "");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined && schema.enum.length > 0) {
      return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    }
    if (schema.not !== undefined) return "never";
    if (schema.properties !== undefined)
      return writeObjectType(schema.properties, schema.required ?? []);
    if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(writeType))].join(" | ");
    if (schema.items !== undefined) return `(${writeType(schema.items)})[]`;
    const types = [schema.type ?? "unknown"]
      .flat()
      .map((type) => typesByJsonType[type] ?? "unknown");
    return types.join(" | ");
  };
  const writeObjectType = (
    properties: Record<string, Schema>,
    required: readonly string[],
  ): string =>
    writeObject(
      Object.entries(properties).map(([name, schema]) => ({
        name,
        type: writeType(schema),
        isRequired: required.includes(name),
        description: schema.description ?? "",
      })),
    );
  return writeType;
};

const typesByJsonType: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
  object: "Record<string, unknown>",
};
