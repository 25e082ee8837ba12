import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { JsonNumber, parseJson, stringifySorted } from "./json.ts";
import { Decimal } from "./money.ts";

const sourceOf = (value: unknown): string => {
  if (!(value instanceof JsonNumber)) throw new Error("not a number");
  return value.source;
};

describe("parseJson", () => {
  test.each([
    "0.1",
    "0.10",
    "12345678901234567.123456",
    "1e3",
    "1E-2",
    "-0",
    "-0.0",
    "9".repeat(400),
  ])("keeps the number %.30s as it was written", (source) => {
    expect(sourceOf(parseJson(source))).toBe(source);
    expect(parseJson(`{"a":[{"b":${source}}]}`)).toEqual({ a: [{ b: new JsonNumber(source) }] });
  });

  test("given a doubled key, keeps the source of the last one", () => {
    expect(parseJson('{"a":0.10,"a":12345678901234567.123456}')).toEqual({
      a: new JsonNumber("12345678901234567.123456"),
    });
  });

  test("leaves every other value alone", () => {
    expect(parseJson('{"a":null,"b":true,"c":"1.0","d":[],"e":{}}')).toEqual({
      a: null,
      b: true,
      c: "1.0",
      d: [],
      e: {},
    });
  });

  test("given a key named __proto__, changes no prototype", () => {
    const value = parseJson('{"__proto__":{"toAmount":1},"constructor":{"prototype":{"x":1}}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(Object(value))).toEqual(["__proto__", "constructor"]);
    expect("toAmount" in Object(value)).toBe(false);
    expect("x" in {}).toBe(false);
  });

  test.each([
    "",
    "{",
    "NaN",
    "Infinity",
    "01",
    "1.",
    ".5",
    "+1",
    "'a'",
    "{a:1}",
    "[1,]",
    "\uFEFF1",
  ])("throws SyntaxError for %j", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test.each([
    ["lists", "[".repeat(32_000) + "]".repeat(32_000)],
    ["objects", `${'{"a":'.repeat(12_000)}1${"}".repeat(12_000)}`],
    ["lists that never end", "[".repeat(65_000)],
  ])("given 64 kB of nested %s, throws SyntaxError and lives", (_name, text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe("stringifySorted", () => {
  test("sorts keys at every depth and writes no blanks", () => {
    const value = { b: { z: 1, a: [{ d: 1, c: 2 }] }, a: "x y" };
    expect(stringifySorted(value)).toBe('{"a":"x y","b":{"a":[{"c":2,"d":1}],"z":1}}');
  });

  test("sorts keys that look like numbers as text", () => {
    expect(stringifySorted({ 9: 1, 10: 2, a: 3 })).toBe('{"10":2,"9":1,"a":3}');
  });

  test("writes dates and decimals as their text, and leaves out what has no value", () => {
    const value = { at: new Date(0), amount: new Decimal("1e-7"), nothing: undefined, none: null };
    expect(stringifySorted(value)).toBe(
      '{"amount":"0.0000001","at":"1970-01-01T00:00:00.000Z","none":null}',
    );
    expect(stringifySorted([undefined, 1])).toBe("[null,1]");
  });

  test("writes any JSON value so that it parses to the same value, whatever the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = stringifySorted(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(stringifySorted(reverseKeys(value))).toBe(text);
      }),
    );
  });
});

const reverseKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reverseKeys(inner)]));
};
