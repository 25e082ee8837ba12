type Json = ReturnType<typeof JSON.parse>;

/** Resolves a reference within a document, such as `#/components/schemas/Errors`. */
export const resolveRef = (document: Json, ref: string): Json =>
  ref
    .slice(2)
    .split("/")
    .reduce((current: Json, name) => current?.[name], document);
