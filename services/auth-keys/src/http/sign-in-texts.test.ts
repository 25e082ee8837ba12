import { expect, test } from "@jest/globals";
import { signInTextsGerman } from "./sign-in-texts-german.ts";
import { type SignInTexts, signInTexts } from "./sign-in-texts.ts";

/** Lists each text's name with its placeholders. */
const listPlaceholders = ({ errorTexts, ...texts }: SignInTexts) =>
  Object.entries({ ...texts, ...errorTexts }).map(([name, text]) => [
    name,
    [...new Set(text.match(/\{\w+\}/g))].toSorted(),
  ]);

test("every language has all texts of the sign-in form with the same placeholders", () => {
  expect(listPlaceholders(signInTextsGerman)).toEqual(listPlaceholders(signInTexts));
});
