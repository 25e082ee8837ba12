import { describe, expect, test } from "@jest/globals";
import { readHandle } from "./handle.ts";

describe("readHandle", () => {
  test.each([
    ["abc", "abc"],
    ["ABC", "abc"],
    ["a_1", "a_1"],
    ["___", "___"],
    ["007", "007"],
    ["a".repeat(30), "a".repeat(30)],
    ["demo", "demo"],
  ])("takes %j as %j", (typed, handle) => {
    expect(readHandle(typed)).toBe(handle);
  });

  const hostile: [why: string, typed: string][] = [
    ["empty", ""],
    ["one character", "a"],
    ["two characters", "ab"],
    ["31 characters", "a".repeat(31)],
    ["a million characters", "a".repeat(1_000_000)],
    ["a leading blank", " abc"],
    ["a trailing blank", "abc "],
    ["a line end at the end", "abc\n"],
    ["a carriage return at the end", "abc\r\n"],
    ["a second line", "abc\ndef"],
    ["a tab", "a\tbc"],
    ["NUL", "abc\0"],
    ["an at sign", "@abc"],
    ["a dash", "a-bc"],
    ["a dot", "a.bc"],
    ["two dots", "..."],
    ["a path", "../admin"],
    ["a slash", "abc/pay"],
    ["a backslash", "abc\\"],
    ["an encoded slash", "abc%2Fpay"],
    ["a query", "abc?x"],
    ["a fragment", "abc#x"],
    ["a quote", "abc'"],
    ["SQL", "a';--"],
    ["markup", "<b>abc"],
    ["a template", "${abc}"],
    ["a Cyrillic а", "p\u0430ypal"],
    ["a Kelvin sign, which folds to k", "\u212Aelvin"],
    ["a long s", "\u017Fhop"],
    ["a dotted capital I", "\u0130stanbul"],
    ["a full-width letter", "\uFF41bc"],
    ["an accent of its own", "abce\u0301"],
    ["a zero-width space", "ab\u200Bc"],
    ["a right-to-left override", "\u202Eabc"],
    ["a soft hyphen", "ab\u00ADc"],
    ["a byte order mark", "\uFEFFabc"],
    ["half a surrogate", "abc\uD800"],
    ["an emoji", "abc🦊"],
    ["Arabic digits", "abc\u0661"],
    ["a circled letter", "\u24D0bc"],
    ["a reserved word", "admin"],
    ["a reserved word in capitals", "CONSOLE"],
    ["another reserved word", "Payment_Links"],
    ["a word of our own addresses", "checkout"],
  ];
  test.each(hostile)("refuses %s", (_why, typed) => {
    expect(() => readHandle(typed)).toThrow("INVALID_HANDLE");
  });
});
