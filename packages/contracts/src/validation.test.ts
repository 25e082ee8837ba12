import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import * as z from "zod";
import { parseJson } from "./json.ts";
import { formatAmount } from "./money.ts";
import { ApiError } from "./api-error.ts";
import * as validation from "./validation.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

/** Parses one JSON text as a field. Returns the value, or the error codes if it is rejected. */
const parseField = (field: z.ZodType, json: string | undefined): unknown => {
  try {
    const input = parseJson(json === undefined ? "{}" : `{"value":${json}}`);
    return validation.parseInput(validation.body({ value: field }), input)["value"];
  } catch (error) {
    if (error instanceof ApiError) return error.entries.map((entry) => entry.code).join(" ");
    throw error;
  }
};

const now = new Date("2026-11-21T10:00:00Z");
const decimal = validation.required(validation.positiveDecimal);
const string = validation.required(validation.text({ lengthMin: 1, lengthMax: 5 }));
const integer = validation.required(validation.integer({ min: 1, max: 2_147_483_647 }));
const future = validation.required(validation.futureDateTime(() => now));

describe("a positive decimal (rule VALID-2)", () => {
  test.each([
    ["0.1", "0.1"],
    ['"0.1"', "0.1"],
    ["12345678901234567.123456", "12345678901234567.123456"],
    ["1e3", "1000"],
    ["1e-100", `0.${"0".repeat(99)}1`],
  ])("parses %s exactly", (json, amount) => {
    const value = parseField(decimal, json);
    expect(formatAmount(value as Parameters<typeof formatAmount>[0])).toBe(amount);
  });

  test.each([
    [undefined, "missing"],
    ["null", "decimal_type"],
    ["true", "decimal_type"],
    ["[]", "decimal_type"],
    ["{}", "decimal_type"],
    ['{"source":"5"}', "decimal_type"],
    ['""', "decimal_parsing"],
    ['"ten"', "decimal_parsing"],
    ['"NaN"', "finite_number"],
    ['"-Infinity"', "finite_number"],
    ["0", "greater_than"],
    ["-0.0", "greater_than"],
    ['"-0"', "greater_than"],
    ["-1", "greater_than"],
    ["1e78", "decimal_max_digits"],
    ["1e999999999", "decimal_max_digits"],
    ["-1e999999999", "decimal_max_digits"],
    ["1e-101", "decimal_max_digits"],
    ["1e-999999", "decimal_max_digits"],
    [`"${"9".repeat(79)}"`, "decimal_max_digits"],
  ])("rejects %s with %s", (json, code) => {
    expect(parseField(decimal, json)).toBe(code);
  });
});

describe("a string (rule VALID-2)", () => {
  test.each([
    ['"a"', "a"],
    ['"abcde"', "abcde"],
    // Five code points, ten UTF-16 units, twenty bytes.
    ['"😀😀😀😀😀"', "😀😀😀😀😀"],
  ])("parses %s", (json, value) => {
    expect(parseField(string, json)).toBe(value);
  });

  test.each([
    [undefined, "missing"],
    ["null", "string_type"],
    ["1", "string_type"],
    ["true", "string_type"],
    ["[]", "string_type"],
    ['"abcdef"', "string_too_long"],
    ['"😀😀😀😀😀😀"', "string_too_long"],
    ['""', "string_too_short"],
    ['"a\\u0000"', "string_pattern_mismatch"],
    ['"\\ud800"', "string_pattern_mismatch"],
  ])("rejects %s with %s", (json, code) => {
    expect(parseField(string, json)).toBe(code);
  });
});

describe("an integer (rule VALID-2)", () => {
  test.each([
    ["1", 1],
    ["2147483647", 2_147_483_647],
    ["1.0", 1],
    ["1e3", 1000],
    ['"5"', 5],
    ['" 5 "', 5],
    ['"+5"', 5],
    ['"007"', 7],
    ['"5.00"', 5],
  ])("parses %s as %d", (json, value) => {
    expect(parseField(integer, json)).toBe(value);
  });

  test.each([
    [undefined, "missing"],
    ["null", "int_type"],
    ["true", "int_type"],
    ["[]", "int_type"],
    ["{}", "int_type"],
    ['""', "int_parsing"],
    ['"abc"', "int_parsing"],
    ['"5.5"', "int_parsing"],
    ['"5."', "int_parsing"],
    ['"1e2"', "int_parsing"],
    ['"1_000"', "int_parsing"],
    ['"0x10"', "int_parsing"],
    ['"٥"', "int_parsing"],
    ['"Infinity"', "int_parsing"],
    [`"${"9".repeat(60_000)}x"`, "int_parsing"],
    ["1.5", "int_from_float"],
    ["0.5", "int_from_float"],
    ["1e-1", "int_from_float"],
    ["1e400", "finite_number"],
    ["-1e400", "finite_number"],
    ["0", "greater_than_equal"],
    ["-0", "greater_than_equal"],
    ["-1", "greater_than_equal"],
    ['"-5"', "greater_than_equal"],
    [`-${"9".repeat(400)}`, "greater_than_equal"],
    ["2147483648", "less_than_equal"],
    ["99999999999999999999999", "less_than_equal"],
    ["9".repeat(400), "less_than_equal"],
    [`"${"9".repeat(400)}"`, "less_than_equal"],
  ])("rejects %.40s with %s", (json, code) => {
    expect(parseField(integer, json)).toBe(code);
  });
});

describe("a date-time in the future (rule VALID-2)", () => {
  test.each([
    ['"2026-11-21T10:00:00.001Z"', "2026-11-21T10:00:00.001Z"],
    ['"2026-11-21T10:00:01"', "2026-11-21T10:00:01.000Z"],
    ['"2026-11-21T12:00:00.001+02:00"', "2026-11-21T10:00:00.001Z"],
    ['"2026-11-22"', "2026-11-22T00:00:00.000Z"],
    ['"9999-12-31"', "9999-12-31T00:00:00.000Z"],
  ])("parses %s", (json, instant) => {
    expect(parseField(future, json)).toEqual(new Date(instant));
  });

  test.each([
    [undefined, "missing"],
    ["null", "datetime_type"],
    ["1795255200", "datetime_type"],
    ["true", "datetime_type"],
    ["[]", "datetime_type"],
    ['""', "datetime_from_date_parsing"],
    ['"tomorrow"', "datetime_from_date_parsing"],
    ['"2027-02-29"', "datetime_from_date_parsing"],
    ['"9999-12-31T23:59:59-01:00"', "datetime_from_date_parsing"],
    ['"2026-11-21T10:00:00Z"', "datetime_future"],
    ['"2026-11-21T12:00:00+02:00"', "datetime_future"],
    ['"2026-11-21"', "datetime_future"],
    ['"0001-01-01"', "datetime_future"],
  ])("rejects %s with %s", (json, code) => {
    expect(parseField(future, json)).toBe(code);
  });
});

describe("an enum value (rule VALID-2)", () => {
  const wordField = validation.required(validation.oneOf(["active", "completed"]));
  test.each([
    ['"active"', "active"],
    [undefined, "missing"],
    ['"Active"', "enum"],
    ['" active"', "enum"],
    ['""', "enum"],
    ['"toString"', "enum"],
    ["null", "enum"],
    ["1", "enum"],
    ['["active"]', "enum"],
  ])("given %s, returns %s", (json, expected) => {
    expect(parseField(wordField, json)).toBe(expected);
  });
});

describe("a boolean (rule VALID-2)", () => {
  test.each([
    ["true", true],
    ["false", false],
    [undefined, "missing"],
    ["null", "bool_type"],
    ["1", "bool_type"],
    ['"true"', "bool_type"],
  ])("given %s, returns %s", (json, expected) => {
    expect(parseField(validation.required(validation.bool), json)).toBe(expected);
  });
});

describe("a list (rule VALID-2)", () => {
  const list = validation.required(
    validation.list(validation.text({ lengthMax: 3 }), { itemsMin: 1, itemsMax: 2 }),
  );
  test.each([
    ['["a"]', ["a"]],
    ['["a","b"]', ["a", "b"]],
    [undefined, "missing"],
    ["null", "list_type"],
    ['{"0":"a","length":1}', "list_type"],
    ["[]", "too_short"],
    ['["a","b","c"]', "too_long"],
    ['["a",1]', "string_type"],
    ['["abcd",1]', "string_too_long string_type"],
    ['["abcd","abcd"]', "string_too_long string_too_long"],
    // The list is rejected as a whole, which limits the number of errors in a response.
    ["[1,2,3]", "too_long"],
  ])("given %s, returns %j", (json, expected) => {
    expect(parseField(list, json)).toEqual(expected);
  });
});

describe("a URL (rule VALID-2)", () => {
  const url = validation.required(validation.webUrl({ lengthMax: 40 }));
  test.each([
    ['"https://example.com/a.png"', "https://example.com/a.png"],
    ['"HTTP://EXAMPLE.com"', "http://example.com/"],
    [`"https://example.com/${"a".repeat(20)}"`, `https://example.com/${"a".repeat(20)}`],
    [`"https://example.com/${"a".repeat(21)}"`, "string_too_long"],
    // The input is short, but the stored normalized form is too long.
    [`"https://example.com/${"é".repeat(4)}"`, "string_too_long"],
    ['"javascript:alert(1)"', "url_parsing"],
    ['"data:text/html,hi"', "url_parsing"],
    ['"//example.com"', "url_parsing"],
    ['"/relative"', "url_parsing"],
    ['"https://user@example.com"', "url_parsing"],
    ['"https://:pass@example.com"', "url_parsing"],
    ['"https://"', "url_parsing"],
    ["1", "string_type"],
  ])("given %s, returns %s", (json, expected) => {
    expect(parseField(url, json)).toBe(expected);
  });

  const httpsUrl = validation.required(validation.webUrl({ lengthMax: 40, isHttpsRequired: true }));
  test.each([
    ['"HTTPS://Shop.example"', "https://shop.example/"],
    ['"http://shop.example/"', "url_scheme"],
    ['"http://user@shop.example/"', "url_parsing"],
    ['"https://user@shop.example/"', "url_parsing"],
    ['"javascript:alert(1)"', "url_parsing"],
    [`"https://shop.example/${"a".repeat(20)}"`, "string_too_long"],
  ])("that must be https, given %s, returns %s", (json, expected) => {
    expect(parseField(httpsUrl, json)).toBe(expected);
  });
});

describe("optional and nullable fields", () => {
  const text = validation.text({ lengthMax: 5 });
  test.each([
    ["nullable", validation.nullable(text), undefined, null],
    ["nullable", validation.nullable(text), "null", null],
    ["nullable", validation.nullable(text), '"a"', "a"],
    ["nullable", validation.nullable(text), "1", "string_type"],
    ["changed", validation.optional(text), undefined, undefined],
    ["changed", validation.optional(text), "null", "string_type"],
    ["changed or null", validation.optional(validation.orNull(text)), "null", null],
    ["changed or null", validation.optional(validation.orNull(text)), undefined, undefined],
    ["parameter", validation.parameter(text), undefined, undefined],
    ["parameter", validation.parameter(text), "1", "string_type"],
  ])("%s, given %3$j", (_name, field, json, expected) => {
    expect(parseField(field, json)).toBe(expected);
  });
});

/** Returns a field's schema as the OpenAPI documents contain it. */
const toFieldSchema = (field: z.ZodType): unknown => {
  const { $schema: _schemaDialect, ...schema } = z.toJSONSchema(field, { io: "input" });
  return schema;
};

describe("the schema of a parser", () => {
  const amount = z.fromJSONSchema(validation.positiveDecimal.schema);
  const matchesSchema = (text: string) => amount.safeParse(text).success;
  /**
   * Returns whether the parser accepts a text or rejects it only for its number of digits, which a
   * pattern cannot count.
   */
  const matchesParser = (text: string): boolean => {
    const result = validation.positiveDecimal.parse(text);
    const isPositive = !text.trim().startsWith("-");
    return typeof result === "object" || (result === "decimal_max_digits" && isPositive);
  };

  test.each([
    "25",
    "0.1",
    "1e3",
    ".5",
    "5.",
    "+5",
    "007",
    " 1",
    "\u00a01\ufeff",
    "1E-2",
    "0e5",
    "0",
    "00.0",
    "",
    " ",
    ".",
    "-1",
    "-1E100",
    "ten",
    "NaN",
    "Infinity",
    "1e",
    "1 000",
    "1_000",
    "0x10",
    "٥",
    "\u001c1",
  ])("agrees with the parser of amounts on %j", (text) => {
    expect(matchesSchema(text)).toBe(matchesParser(text));
  });

  test("agrees with the parser of amounts on any text of numeric characters", () => {
    const characters = fc.constantFrom(..."0012.+-eE \t");
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 8 }), (text) => {
        expect([text, matchesSchema(text)]).toEqual([text, matchesParser(text)]);
      }),
      getPropertyRunOptions({ soak: 2_000 }),
    );
  });

  test("has the bounds of its parser, and allows null only where the parser accepts it", () => {
    const name = validation.text({ lengthMin: 1, lengthMax: 5 });
    const nameSchema = { type: "string", minLength: 1, maxLength: 5, pattern: "^[^\\x00]*$" };
    const orNullSchema = { anyOf: [nameSchema, { type: "null" }] };
    expect(toFieldSchema(validation.required(name))).toEqual(nameSchema);
    expect(toFieldSchema(validation.optional(name))).toEqual(nameSchema);
    expect(toFieldSchema(validation.parameter(name))).toEqual(nameSchema);
    expect(toFieldSchema(validation.optional(validation.orNull(name)))).toEqual(orNullSchema);
    expect(toFieldSchema(validation.nullable(name))).toEqual({ ...orNullSchema, default: null });
    expect(
      toFieldSchema(
        validation.required(
          validation.list(validation.integer({ min: 1, max: 3 }), { itemsMax: 2 }),
        ),
      ),
    ).toEqual({
      type: "array",
      items: { type: "integer", minimum: 1, maximum: 3 },
      minItems: 0,
      maxItems: 2,
    });
    expect(
      toFieldSchema(validation.required(validation.oneOf(["a", "b"])).describe("A word.")),
    ).toEqual({
      type: "string",
      enum: ["a", "b"],
      description: "A word.",
    });
  });

  test("marks a body field as required only if the parser rejects a missing field", () => {
    const schema = validation.body({
      a: validation.required(validation.bool),
      b: validation.nullable(validation.bool),
      c: validation.optional(validation.bool),
      d: validation.parameter(validation.bool),
      e: validation.body({}),
      f: validation.body({}).optional(),
    });
    expect(toFieldSchema(schema)).toMatchObject({ type: "object", required: ["a", "e"] });
  });
});

describe("parseInput", () => {
  const schema = validation.body({
    b: integer,
    a: string,
    c: validation.nullable(validation.bool),
  });
  const getErrorCodes = (input: unknown, checkedSchema: z.ZodType = schema): unknown => {
    try {
      return validation.parseInput(checkedSchema, input);
    } catch (error) {
      return error instanceof ApiError
        ? [error.status, ...error.entries.map((e) => e.code)]
        : error;
    }
  };

  test("reports a list's problems at its field's position, one entry each, in the order of the list", () => {
    const wordsField = validation.orNull(
      validation.list(validation.text({ lengthMax: 1 }), { itemsMax: 3 }),
    );
    const listSchema = validation.body({
      a: validation.optional(wordsField),
      b: validation.nullable(wordsField),
      c: integer,
    });
    expect(
      getErrorCodes(parseJson('{"c":0,"b":["ab","b","ab"],"a":[1,"ab"]}'), listSchema),
    ).toEqual([
      422,
      "string_type",
      "string_too_long",
      "string_too_long",
      "string_too_long",
      "greater_than_equal",
    ]);
  });

  test("reports every problem, one entry each, in the order of the schema's fields (rule VALID-1)", () => {
    expect(getErrorCodes(parseJson('{"c":1,"a":1,"b":1.5}'))).toEqual([
      422,
      "int_from_float",
      "string_type",
      "bool_type",
    ]);
    expect(getErrorCodes({})).toEqual([422, "missing", "missing"]);
  });

  test.each([["null"], ["[]"], ['"text"'], ["1"], ["true"]])(
    "rejects %s, which is not an object",
    (json) => {
      expect(getErrorCodes(parseJson(json))).toEqual([422, "model_attributes_type"]);
      const outerSchema = validation.body({ inner: schema, may: schema.optional() });
      expect(getErrorCodes(parseJson(`{"inner":${json},"may":${json}}`), outerSchema)).toEqual([
        422,
        "model_attributes_type",
        "model_attributes_type",
      ]);
    },
  );

  test("rejects a missing body", () => {
    expect(getErrorCodes(undefined)).toEqual([422, "model_attributes_type"]);
  });

  test("ignores unknown fields, including __proto__", () => {
    const input = parseJson('{"b":1,"a":"x","d":1,"__proto__":{"c":true}}');
    expect(getErrorCodes(input)).toEqual({ b: 1, a: "x", c: null });
  });

  test("describes the failed rule in a sentence without field names or values (rule VALID-1)", () => {
    const codes = Object.keys(validation.validationMessages) as validation.ValidationCode[];
    const apiError = validation.createValidationError(...codes);
    expect(apiError.status).toBe(422);
    expect(apiError.entries.map(({ code }) => code)).toEqual(codes);
    for (const { message } of apiError.entries) expect(message).toMatch(/^[A-Z][^"']*\.$/);
  });
});
