import { expect, test } from "@jest/globals";
import { signInTextsGerman } from "./sign-in-texts-german.ts";
import { type SignInTexts, signInTexts } from "./sign-in-texts.ts";

/** Each text's name, with the places that are filled in. */
const listPlaceholders = ({ errorTexts, ...texts }: SignInTexts) =>
  Object.entries({ ...texts, ...errorTexts }).map(([name, text]) => [
    name,
    [...new Set(text.match(/\{\w+\}/g))].toSorted(),
  ]);

test("every language has every text of the sign-in form, with the same places to fill", () => {
  expect(listPlaceholders(signInTextsGerman)).toEqual(listPlaceholders(signInTexts));
});
