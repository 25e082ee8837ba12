import { describe, expect, test } from "@jest/globals";
import { manualPaymentTexts } from "./manual-payment-texts.ts";
import { manualPaymentTextsGerman } from "./manual-payment-texts-german.ts";
import { checkoutTexts } from "./checkout-texts.ts";
import { checkoutTextsGerman } from "./checkout-texts-german.ts";
import { groupDigits } from "./render-amount.ts";
import { siteTexts } from "./site-texts.ts";
import { siteTextsGerman } from "./site-texts-german.ts";
import { tronTexts } from "./tron-texts.ts";
import { tronTextsGerman } from "./tron-texts-german.ts";

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

describe("every language", () => {
  test.each([
    ["the checkout", checkoutTexts, checkoutTextsGerman],
    ["manual payments", manualPaymentTexts, manualPaymentTextsGerman],
    ["payments on Tron", tronTexts, tronTextsGerman],
    ["the other pages", siteTexts, siteTextsGerman],
  ])("has every text of %s with the same placeholders", (_page, english, german) => {
    expect(Object.fromEntries(listPlaceholders(german))).toEqual(
      Object.fromEntries(listPlaceholders(english)),
    );
    expect(listTexts(german)).not.toContain("");
  });
});

describe("groupDigits uses the language's grouping and keeps every digit", () => {
  test.each([
    ["en", "1234.5", "1,234.5"],
    ["de", "1234.5", "1.234,5"],
    ["de", "1.234", "1,234"],
    ["de", "0.000000000000000001", "0,000000000000000001"],
    ["en", "12345678901234567890123.4500", "12,345,678,901,234,567,890,123.4500"],
  ] as const)("%s: %s is %s", (language, amount, expected) => {
    expect(groupDigits(amount, language)).toBe(expected);
  });
});
