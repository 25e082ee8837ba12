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
 * Throws SyntaxError where the text is not JSON.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, function (_key, value: unknown, context?: ReviverContext) {
    if (typeof value !== "number") return value;
    return new JsonNumber(context?.source ?? String(value));
  } as (this: unknown, key: string, value: unknown) => unknown);

/** Writes JSON with sorted keys and no blanks, at every depth (spec §6.3). */
export const stringifySorted = (value: unknown): string => JSON.stringify(sortKeys(value));

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
};
