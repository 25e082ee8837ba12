/** A JSON number as it was written, so that no amount ever passes through a binary float. */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type ReviverContext = { source?: string };

/**
 * Parses JSON and keeps each number's own source text as a {@link JsonNumber}.
 * Throws SyntaxError where the text is not JSON, or is nested deeper than the stack allows.
 */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text, keepSource);
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    throw new SyntaxError("JSON is nested too deeply", { cause: error });
  }
};

const keepSource = (_key: string, value: unknown, context?: ReviverContext): unknown => {
  if (typeof value !== "number") return value;
  if (context?.source === undefined) throw new Error("JSON.parse gave a number without its source");
  return new JsonNumber(context.source);
};

/**
 * Writes JSON with sorted keys and no blanks, at every depth (spec §6.3). Dates, decimals and members
 * without a value are written as `JSON.stringify` does.
 */
export const stringifySorted = (value: unknown): string => write(value) ?? "null";

const write = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? "null").join(",")}]`;
  // Put together by hand: an object would list keys that look like numbers first.
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [JSON.stringify(key), write(inner)])
    .filter(([, text]) => text !== undefined);
  return `{${members.map((member) => member.join(":")).join(",")}}`;
};
