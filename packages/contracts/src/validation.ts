import * as z from "zod";
import { type Decimal, parseDecimal } from "./money.ts";
import { parseInstant } from "./instant.ts";
import { JsonNumber } from "./json.ts";
import { Refusal } from "./refusal.ts";

/**
 * The validation codes that a caller can be told (rule VALID-2). A message states the failed rule and
 * never names the field (rule VALID-1).
 */
export const validationMessages = {
  missing: "A required value is missing.",
  json_invalid: "The body is not valid JSON.",
  model_attributes_type: "The body must be a JSON object.",
  decimal_type: "A decimal must be a number or a string.",
  decimal_parsing: "The text is not a decimal number.",
  decimal_max_digits: "The decimal has too many digits.",
  decimal_max_places: "The decimal has more places than the token allows.",
  finite_number: "The number must be finite.",
  greater_than: "The number must be greater than 0.",
  greater_than_equal: "The number is too small.",
  less_than_equal: "The number is too large.",
  string_type: "The value must be a string.",
  string_too_long: "The string is too long.",
  string_too_short: "The string is too short.",
  string_pattern_mismatch: "The string does not have the expected form.",
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
  enum: "The value is not one of those allowed.",
  url_parsing: "The text is not an absolute http or https URL.",
  no_update: "This value cannot be changed.",
} as const;

export type ValidationCode = keyof typeof validationMessages;

/** Makes the 422 that tells one problem per code, in order. */
export const invalid = (...codes: ValidationCode[]): Refusal =>
  new Refusal(
    422,
    codes.map((code) => ({ message: validationMessages[code], code })),
  );

/** Reads a stranger's input. Only here does a schema's failure become the caller's fault (422). */
export const read = <S extends z.ZodType>(schema: S, input: unknown): z.output<S> => {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalid(...result.error.issues.map(codeOfIssue));
};

const codeOfIssue = (issue: z.core.$ZodIssue): ValidationCode => {
  const code: unknown = issue.code === "custom" ? issue.params?.["code"] : undefined;
  return typeof code === "string" && code in validationMessages
    ? (code as ValidationCode)
    : "model_attributes_type";
};

/** What a field's reader answers: the value, or the code of the rule that failed; a list's may be several. */
type Reading<Out> = { value: Out } | ValidationCode | ValidationCode[];

type JsonSchema = Record<string, unknown>;

/**
 * Reads one value of a stranger's, and says as a JSON Schema what it takes. The schema refuses nothing
 * that the reader takes; some rules, such as a date's being in the future, it cannot tell.
 */
export type Reader<Out> = {
  schema: JsonSchema;
  read: (input: unknown) => Reading<Out>;
};

const field = <Out>(reader: Reader<Out>) =>
  z
    .unknown()
    .transform((input, context): Out => {
      const reading = reader.read(input);
      if (isValue(reading)) return reading.value;
      for (const code of [reading].flat()) {
        context.issues.push({ code: "custom", input, params: { code } });
      }
      return z.NEVER;
    })
    .meta(reader.schema);

const isValue = <Out>(reading: Reading<Out>): reading is { value: Out } =>
  typeof reading === "object" && !Array.isArray(reading);

/** A field that must be there. */
export const required = <Out>({ schema, read: readValue }: Reader<Out>) =>
  field({ schema, read: (input) => (input === undefined ? "missing" : readValue(input)) });

/** A field that may be left out or null; both read as null. */
export const nullable = <Out>(reader: Reader<Out>) => field(orNull(reader)).prefault(null);

/** A query parameter that may be left out, which reads as undefined; a query knows no null. */
export const parameter = <Out>(reader: Reader<Out>) => field(reader).optional();

/** A field of a change: left out reads as undefined, which leaves the thing as it is. */
export const changed = <Out>({ schema, read: readValue }: Reader<Out>) =>
  field<Out | undefined>({
    schema,
    read: (input) => (input === undefined ? { value: undefined } : readValue(input)),
  }).optional();

/** A reader that also takes null, for a change that clears a value. */
export const orNull = <Out>({ schema, read: readValue }: Reader<Out>): Reader<Out | null> => ({
  schema: { anyOf: [schema, { type: "null" }] },
  read: (input) => (input === null ? { value: null } : readValue(input)),
});

const positiveDigits = "([0-9]*[1-9][0-9]*(\\.[0-9]*)?|0*\\.[0-9]*[1-9][0-9]*)";

/** A decimal above 0, from a string or from a JSON number's own source text. */
export const positiveDecimal: Reader<Decimal> = {
  schema: {
    anyOf: [
      { type: "string", pattern: `^\\s*\\+?${positiveDigits}([eE][+-]?[0-9]+)?\\s*$` },
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1e78 },
    ],
  },
  read: (input) => {
    const source = input instanceof JsonNumber ? input.source : input;
    if (typeof source !== "string") return "decimal_type";
    const value = parseDecimal(source);
    if (typeof value === "string") return value;
    return value.greaterThan(0) ? { value } : "greater_than";
  },
};

type TextBounds = { lengthMin?: number; lengthMax: number };

/** A string; lengths count Unicode code points. NUL, which Postgres cannot hold, is refused. */
export const text = ({ lengthMin = 0, lengthMax }: TextBounds): Reader<string> => ({
  schema: {
    type: "string",
    ...(lengthMin === 0 ? {} : { minLength: lengthMin }),
    maxLength: lengthMax,
    pattern: "^[^\\x00]*$",
  },
  read: (input) => {
    if (typeof input !== "string") return "string_type";
    const length = [...input].length;
    if (length > lengthMax) return "string_too_long";
    if (length < lengthMin) return "string_too_short";
    return input.includes("\0") || !input.isWellFormed()
      ? "string_pattern_mismatch"
      : { value: input };
  },
});

const integerText = /^[+-]?\d+(\.0+)?$/;

/** An integer within bounds, from a JSON number or, as query parameters have it, its text. */
export const integer = ({ min, max }: { min: number; max: number }): Reader<number> => ({
  schema: { type: "integer", minimum: min, maximum: max },
  read: (input) => {
    if (!(input instanceof JsonNumber) && typeof input !== "string") return "int_type";
    const source = input instanceof JsonNumber ? input.source : input.trim();
    if (typeof input === "string" && !integerText.test(source)) return "int_parsing";
    const value = Number(source);
    // As pydantic has it: 1e400 is a float without end, four hundred digits are a large integer.
    if (!Number.isFinite(value) && /[.e]/i.test(source)) return "finite_number";
    if (Number.isFinite(value) && !Number.isInteger(value)) return "int_from_float";
    if (value < min) return "greater_than_equal";
    return value > max ? "less_than_equal" : { value };
  },
});

/** A boolean. */
export const bool: Reader<boolean> = {
  schema: { type: "boolean" },
  read: (input) => (typeof input === "boolean" ? { value: input } : "bool_type"),
};

/** One of a closed list of words. */
export const oneOf = <const Word extends string>(words: readonly Word[]): Reader<Word> => ({
  schema: { type: "string", enum: [...words] },
  read: (input) => {
    const word = words.find((candidate) => candidate === input);
    return word === undefined ? "enum" : { value: word };
  },
});

type ListBounds = { itemsMin?: number; itemsMax: number };

/** A list of values; each that fails gives its code, but a list out of bounds is one problem. */
export const list = <Out>(
  item: Reader<Out>,
  { itemsMin = 0, itemsMax }: ListBounds,
): Reader<Out[]> => ({
  schema: { type: "array", items: item.schema, minItems: itemsMin, maxItems: itemsMax },
  read: (input) => {
    if (!Array.isArray(input)) return "list_type";
    if (input.length > itemsMax) return "too_long";
    if (input.length < itemsMin) return "too_short";
    const readings = input.map((given) => item.read(given));
    const codes = readings.flatMap((reading) => (isValue(reading) ? [] : reading));
    if (codes.length > 0) return codes;
    return { value: readings.filter(isValue).map(({ value }) => value) };
  },
});

/** An ISO 8601 date-time; without an offset it is UTC. */
export const dateTime: Reader<Date> = {
  schema: { type: "string", format: "date-time" },
  read: (input) => {
    if (typeof input !== "string") return "datetime_type";
    const value = parseInstant(input);
    return value === undefined ? "datetime_from_date_parsing" : { value };
  },
};

/** An ISO 8601 date-time after the clock's now. */
export const futureDateTime = (now: () => Date): Reader<Date> => ({
  schema: dateTime.schema,
  read: (input) => {
    const reading = dateTime.read(input);
    if (!isValue(reading)) return reading;
    return reading.value > now() ? reading : "datetime_future";
  },
});

/** An absolute http or https URL without credentials, in its normal form within a length. */
export const webUrl = ({ lengthMax }: { lengthMax: number }): Reader<string> => {
  const bounded = text({ lengthMax });
  return {
    schema: { type: "string", format: "uri", maxLength: lengthMax },
    read: (input) => {
      const reading = bounded.read(input);
      if (!isValue(reading)) return reading;
      const url = URL.canParse(reading.value) ? new URL(reading.value) : undefined;
      const accepted =
        url !== undefined &&
        /^https?:$/.test(url.protocol) &&
        url.username === "" &&
        url.password === "";
      if (!accepted) return "url_parsing";
      // What is kept is the normal form, in which other alphabets are longer.
      return url.href.length > lengthMax ? "string_too_long" : { value: url.href };
    },
  };
};

/** An object body, or an object in one; unknown fields are ignored (rule API-16). */
export const body = <Shape extends z.ZodRawShape>(shape: Shape) =>
  // To zod, what is preprocessed may be left out: only `nonoptional` describes it as required.
  z.preprocess(withoutNumber, z.object(shape)).nonoptional();

/** A number as its text, because to zod a {@link JsonNumber} is an object. */
const withoutNumber = (input: unknown): unknown =>
  input instanceof JsonNumber ? input.source : input;
