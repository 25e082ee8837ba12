/** A JSON number as its source text. This way, an amount is never converted to a binary float. */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type ReviverContext = { source?: string };

/**
 * Parses JSON and preserves each number's source text as a {@link JsonNumber}. Throws SyntaxError
 * if the text is not JSON, or is nested deeper than the stack allows.
 */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text, preserveNumberSource);
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    throw new SyntaxError("JSON is nested too deeply", { cause: error });
  }
};

const preserveNumberSource = (_key: string, value: unknown, context?: ReviverContext): unknown => {
  if (typeof value !== "number") return value;
  if (context?.source === undefined)
    throw new Error("JSON.parse returned a number without its source");
  return new JsonNumber(context.source);
};
