import { expect, test } from "@jest/globals";
import { formatAmountInput, parseAmount } from "./parse-amount.ts";

test.each([
  ["en-US", "25.50", "25.50"],
  ["en-US", ".5", ".5"],
  ["en-US", "$25", "25"],
  ["en-US", "25 USDC", "25"],
  ["en-US", "usdc 25", "25"],
  ["en-US", "1,000", "1000"],
  ["en-US", "$1,234,567.80", "1234567.80"],
  ["en-US", "1 000 000", "1000000"],
  ["en-US", "1.000", "1.000"],
  ["en-IN", "12,34,567.8", "1234567.8"],
  ["en-US", "12,34,567", "1234567"],
  ["de-DE", "1.000", "1000"],
  ["de-DE", "1.234,50 €", "1234.50"],
  ["de-DE", "0,1", "0.1"],
  ["de-DE", "1,5", "1.5"],
  ["de-DE", "1,000", "1.000"],
  ["de-DE", "0.1", "0.1"],
  ["de-DE", "25.50", "25.50"],
  ["de-CH", "1’000.50", "1000.50"],
  ["de-CH", "1'000.50", "1000.50"],
  ["fr-FR", "1 000,5", "1000.5"],
])("in %s, the amount %j is %s", (locale, input, amount) => {
  expect(parseAmount(input, "USDC", locale)).toBe(amount);
});

test.each([
  ["en-US", "1,5"],
  ["en-US", "1,00"],
  ["en-US", "1,0000"],
  ["en-US", "1.000.000"],
  ["en-US", "1.000,50"],
  ["de-DE", "1,000.50"],
  ["en-US", "25 EURC"],
  ["en-US", "$25 USDC"],
  ["en-US", "-1"],
  ["en-US", "1e3"],
  ["en-US", "0x10"],
  ["en-US", "0.00"],
  ["en-US", "$"],
  ["en-US", ""],
])("in %s, %j is not accepted as an amount", (locale, input) => {
  expect(parseAmount(input, "USDC", locale)).toBeUndefined();
});

test.each([
  ["en-US", "1.234", "1.234"],
  ["de-DE", "1.234", "1,234"],
  ["de-DE", "1000", "1000"],
  ["fr-FR", "1234567.5", "1234567,5"],
  ["ar-EG", "25.5", "25.5"],
])("in %s, the amount %s is entered as %s", (locale, amount, input) => {
  expect(formatAmountInput(amount, "USDC", locale)).toBe(input);
  expect(parseAmount(input, "USDC", locale)).toBe(amount);
});
