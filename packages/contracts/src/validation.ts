import * as z from "zod";
import { type Decimal, parseDecimal } from "./money.ts";
import { parseInstant } from "./instant.ts";
import { JsonNumber } from "./json.ts";
import { ApiError } from "./api-error.ts";

/**
 * The validation error codes of the API (rule VALID-2). A message states the broken rule and never
 * names the field (rule VALID-1).
 */
export const validationMessages = {
  missing: "A required value is missing.",
  json_invalid: "The body is not valid JSON.",
  model_attributes_type: "The body must be a JSON object.",
  decimal_type: "A decimal must be a number or a string.",
  decimal_parsing: "The text is not a decimal number.",
  decimal_max_digits: "The decimal has too many digits.",
  decimal_max_places: "The decimal has more decimal places than the token allows.",
  finite_number: "The number must be finite.",
  greater_than: "The number must be greater than 0.",
  greater_than_equal: "The number is too small.",
  less_than_equal: "The number is too large.",
  string_type: "The value must be a string.",
  string_too_long: "The string is too long.",
  string_too_short: "The string is too short.",
  string_pattern_mismatch: "The string does not have the expected format.",
  int_type: "The value must be an integer.",
  int_parsing: "The text is not an integer.",
  int_from_float: "The number must not have a fractional part.",
  bool_type: "The value must be true or false.",
  list_type: "The value must be a list.",
  too_long: "The list is too long.",
  too_short: "The list is too short.",
  datetime_type: "The value must be a date-time string.",
  datetime_from_date_parsing: "The text is not an ISO 8601 date-time.",
  datetime_future: "The date-time must be in the future.",
  enum: "The value is not one of the allowed values.",
  url_parsing: "The text is not an absolute http or https URL.",
  url_scheme: "The URL must start with https://.",
  no_update: "This value cannot be changed.",
} as const;

export type ValidationCode = keyof typeof validationMessages;

/** Creates a 422 error with one entry per code, in order. */
export const createValidationError = (...codes: ValidationCode[]): ApiError =>
  new ApiError(
    422,
    codes.map((code) => ({ message: validationMessages[code], code })),
  );

/**
 * Parses untrusted input. Only this function turns a schema failure into the caller's error (422).
 */
export const parseInput = <Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> => {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw createValidationError(...result.error.issues.map(toValidationCode));
};

const toValidationCode = (issue: z.core.$ZodIssue): ValidationCode => {
  const code: unknown = issue.code === "custom" ? issue.params?.["code"] : undefined;
  return typeof code === "string" && code in validationMessages
    ? (code as ValidationCode)
    : "model_attributes_type";
};

/**
 * The result of a field's parser: the value, or the code of the failed rule. A list can fail with
 * several codes.
 */
type ParseResult<Output> = { value: Output } | ValidationCode | ValidationCode[];

type JsonSchema = Record<string, unknown>;

/**
 * Parses one untrusted value and describes the accepted values as a JSON Schema. The schema never
 * rejects a value that the parser accepts. It cannot express some rules, such as a date in the
 * future.
 */
export type Parser<Output> = {
  schema: JsonSchema;
  parse: (input: unknown) => ParseResult<Output>;
};

const createField = <Output>(parser: Parser<Output>) =>
  z
    .unknown()
    .transform((input, context): Output => {
      const result = parser.parse(input);
      if (isParsed(result)) return result.value;
      for (const code of [result].flat()) {
        context.issues.push({ code: "custom", input, params: { code } });
      }
      return z.NEVER;
    })
    .meta(parser.schema);

const isParsed = <Output>(result: ParseResult<Output>): result is { value: Output } =>
  typeof result === "object" && !Array.isArray(result);

/** A required field. */
export const required = <Output>({ schema, parse: parseValue }: Parser<Output>) =>
  createField({ schema, parse: (input) => (input === undefined ? "missing" : parseValue(input)) });

/** A field that may be missing or null. Both are parsed as null. */
export const nullable = <Output>(parser: Parser<Output>) =>
  createField(orNull(parser)).prefault(null);

/** An optional query parameter, parsed as undefined if it is missing. A query cannot contain null. */
export const parameter = <Output>(parser: Parser<Output>) => createField(parser).optional();

/**
 * A field of a change request. A missing field is parsed as undefined and leaves the value
 * unchanged.
 */
export const optional = <Output>({ schema, parse: parseValue }: Parser<Output>) =>
  createField<Output | undefined>({
    schema,
    parse: (input) => (input === undefined ? { value: undefined } : parseValue(input)),
  }).optional();

/** Extends a parser to accept null, for a change request that clears a value. */
export const orNull = <Output>({
  schema,
  parse: parseValue,
}: Parser<Output>): Parser<Output | null> => ({
  schema: { anyOf: [schema, { type: "null" }] },
  parse: (input) => (input === null ? { value: null } : parseValue(input)),
});

const positiveDigitsPattern = "([0-9]*[1-9][0-9]*(\\.[0-9]*)?|0*\\.[0-9]*[1-9][0-9]*)";

/** A decimal above 0, from a string or from a JSON number's source text. */
export const positiveDecimal: Parser<Decimal> = {
  schema: {
    anyOf: [
      { type: "string", pattern: `^\\s*\\+?${positiveDigitsPattern}([eE][+-]?[0-9]+)?\\s*$` },
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1e78 },
    ],
  },
  parse: (input) => {
    const source = input instanceof JsonNumber ? input.source : input;
    if (typeof source !== "string") return "decimal_type";
    const value = parseDecimal(source);
    if (typeof value === "string") return value;
    return value.greaterThan(0) ? { value } : "greater_than";
  },
};

type TextBounds = { lengthMin?: number; lengthMax: number };

/**
 * A string whose length is counted in Unicode code points. Rejects NUL, which Postgres cannot
 * store.
 */
export const text = ({ lengthMin = 0, lengthMax }: TextBounds): Parser<string> => ({
  schema: {
    type: "string",
    ...(lengthMin === 0 ? {} : { minLength: lengthMin }),
    maxLength: lengthMax,
    pattern: "^[^\\x00]*$",
  },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    const length = [...input].length;
    if (length > lengthMax) return "string_too_long";
    if (length < lengthMin) return "string_too_short";
    return input.includes("\0") || !input.isWellFormed()
      ? "string_pattern_mismatch"
      : { value: input };
  },
});

/** A string with its own format, which `schema` describes. By default, any string. */
export const formattedText = (
  schema: JsonSchema,
  isValid: (input: string) => boolean = () => true,
): Parser<string> => ({
  schema: { type: "string", ...schema },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return isValid(input) ? { value: input } : "string_pattern_mismatch";
  },
});

const integerPattern = /^[+-]?\d+(\.0+)?$/;

/** An integer within bounds, from a JSON number or from a text such as a query parameter. */
export const integer = ({ min, max }: { min: number; max: number }): Parser<number> => ({
  schema: { type: "integer", minimum: min, maximum: max },
  parse: (input) => {
    if (!(input instanceof JsonNumber) && typeof input !== "string") return "int_type";
    const source = input instanceof JsonNumber ? input.source : input.trim();
    if (typeof input === "string" && !integerPattern.test(source)) return "int_parsing";
    const value = Number(source);
    // As in pydantic: 1e400 is an infinite float, while a number of four hundred digits is a large
    // integer.
    if (!Number.isFinite(value) && /[.e]/i.test(source)) return "finite_number";
    if (Number.isFinite(value) && !Number.isInteger(value)) return "int_from_float";
    if (value < min) return "greater_than_equal";
    return value > max ? "less_than_equal" : { value };
  },
});

export const bool: Parser<boolean> = {
  schema: { type: "boolean" },
  parse: (input) => (typeof input === "boolean" ? { value: input } : "bool_type"),
};

/** One of a fixed list of strings. */
export const oneOf = <const Value extends string>(values: readonly Value[]): Parser<Value> => ({
  schema: { type: "string", enum: [...values] },
  parse: (input) => {
    const match = values.find((candidate) => candidate === input);
    return match === undefined ? "enum" : { value: match };
  },
});

type ListBounds = { itemsMin?: number; itemsMax: number };

/**
 * A list of values. Each invalid item adds its own code, but a list with a wrong length is a single
 * error.
 */
export const list = <Output>(
  itemParser: Parser<Output>,
  { itemsMin = 0, itemsMax }: ListBounds,
): Parser<Output[]> => ({
  schema: { type: "array", items: itemParser.schema, minItems: itemsMin, maxItems: itemsMax },
  parse: (input) => {
    if (!Array.isArray(input)) return "list_type";
    if (input.length > itemsMax) return "too_long";
    if (input.length < itemsMin) return "too_short";
    const results = input.map((element) => itemParser.parse(element));
    const codes = results.flatMap((result) => (isParsed(result) ? [] : result));
    if (codes.length > 0) return codes;
    return { value: results.filter(isParsed).map(({ value }) => value) };
  },
});

/** An ISO 8601 date-time. Without an offset it is UTC. */
export const dateTime: Parser<Date> = {
  schema: { type: "string", format: "date-time" },
  parse: (input) => {
    if (typeof input !== "string") return "datetime_type";
    const value = parseInstant(input);
    return value === undefined ? "datetime_from_date_parsing" : { value };
  },
};

/** An ISO 8601 date-time later than the clock's current time. */
export const futureDateTime = (now: () => Date): Parser<Date> => ({
  schema: dateTime.schema,
  parse: (input) => {
    const result = dateTime.parse(input);
    if (!isParsed(result)) return result;
    return result.value > now() ? result : "datetime_future";
  },
});

type WebUrlBounds = { lengthMax: number; isHttpsRequired?: boolean };

/**
 * An absolute http or https URL without credentials. The length limit applies to the normalized
 * form.
 */
export const webUrl = ({ lengthMax, isHttpsRequired = false }: WebUrlBounds): Parser<string> => {
  const boundedText = text({ lengthMax });
  return {
    schema: { type: "string", format: "uri", maxLength: lengthMax },
    parse: (input) => {
      const result = boundedText.parse(input);
      if (!isParsed(result)) return result;
      const url = URL.canParse(result.value) ? new URL(result.value) : undefined;
      const isAccepted =
        url !== undefined &&
        /^https?:$/.test(url.protocol) &&
        url.username === "" &&
        url.password === "";
      if (!isAccepted) return "url_parsing";
      if (isHttpsRequired && url.protocol !== "https:") return "url_scheme";
      // The normalized form is stored. It is longer for non-ASCII characters.
      return url.href.length > lengthMax ? "string_too_long" : { value: url.href };
    },
  };
};

/** A JSON object, as the body or nested in it. Unknown fields are ignored (rule API-16). */
export const body = <Shape extends z.ZodRawShape>(shape: Shape) =>
  // Zod treats a preprocessed value as optional. Only `nonoptional` describes it as required.
  z.preprocess(unwrapJsonNumber, z.object(shape)).nonoptional();

/** Returns the text of a {@link JsonNumber}, which zod would otherwise treat as an object. */
const unwrapJsonNumber = (input: unknown): unknown =>
  input instanceof JsonNumber ? input.source : input;
