import { describe, expect, test } from "@jest/globals";
import { JsonNumber, parseJson } from "./json.ts";

const getNumberSource = (value: unknown): string => {
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
  ])("preserves the source text of the number %.30s", (source) => {
    expect(getNumberSource(parseJson(source))).toBe(source);
    expect(parseJson(`{"a":[{"b":${source}}]}`)).toEqual({ a: [{ b: new JsonNumber(source) }] });
  });

  test("given a duplicate key, uses the source of the last one", () => {
    expect(parseJson('{"a":0.10,"a":12345678901234567.123456}')).toEqual({
      a: new JsonNumber("12345678901234567.123456"),
    });
  });

  test("leaves every other value unchanged", () => {
    expect(parseJson('{"a":null,"b":true,"c":"1.0","d":[],"e":{}}')).toEqual({
      a: null,
      b: true,
      c: "1.0",
      d: [],
      e: {},
    });
  });

  test("given a key named __proto__, does not change a prototype", () => {
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
    ["unclosed lists", "[".repeat(65_000)],
  ])("given 64 kB of nested %s, throws SyntaxError and keeps running", (_name, text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
