import { describe, expect, test } from "@jest/globals";
import { languages } from "./languages.ts";
import { english } from "./languages/en.ts";
import { groupDigits } from "./render-amount.ts";

/** Lists the path of each text with its placeholders. */
const listPlaceholders = (texts: object, path = ""): [string, string[]][] =>
  Object.entries(texts).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "object" && value !== null)
      return listPlaceholders(value, `${path}${name}.`);
    return [[`${path}${name}`, (String(value).match(/\{\w+\}/g) ?? []).toSorted()]];
  });

const listTexts = (texts: object): string[] =>
  Object.values(texts).flatMap((value: unknown) =>
    typeof value === "object" && value !== null ? listTexts(value) : [String(value)],
  );

test.each(Object.entries(languages))(
  "%s has every English text, with the same placeholders",
  (_language, { texts }) => {
    expect(Object.fromEntries(listPlaceholders(texts))).toEqual(
      Object.fromEntries(listPlaceholders(english)),
    );
    expect(listTexts(texts)).not.toContain("");
  },
);

test.each(Object.entries(languages).filter(([language]) => language !== "en"))(
  "%s has no sentence that is still in English",
  (_language, { texts }) => {
    const englishTexts = new Set(listTexts(english));
    const untranslated = listTexts(texts).filter(
      (text) => text.split(" ").length > 2 && englishTexts.has(text),
    );
    expect(untranslated).toEqual([]);
  },
);

describe("groupDigits uses the language's grouping and keeps every digit", () => {
  test.each([
    ["en", "1234.5", "1,234.5"],
    ["de", "1234.5", "1.234,5"],
    ["de", "1.234", "1,234"],
    ["de", "0.000000000000000001", "0,000000000000000001"],
    ["en", "12345678901234567890123.4500", "12,345,678,901,234,567,890,123.4500"],
    ["es", "1234567.5", "1.234.567,5"],
    ["fr", "1234567.5", "1\u202f234\u202f567,5"],
    ["it", "1234567.5", "1.234.567,5"],
    ["ja", "1234567.5", "1,234,567.5"],
    ["pt-BR", "1234567.5", "1.234.567,5"],
    ["zh-Hans", "1234567.5", "1,234,567.5"],
  ] as const)("%s: %s is %s", (language, amount, expected) => {
    expect(groupDigits(amount, language)).toBe(expected);
  });
});
