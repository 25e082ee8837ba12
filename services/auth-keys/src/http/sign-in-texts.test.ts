import { expect, test } from "@jest/globals";
import { signInTextsGerman } from "./sign-in-texts-german.ts";
import { type SignInTexts, signInTexts } from "./sign-in-texts.ts";

/** Each text's name, with the places that are filled in. */
const placesOf = ({ refused, ...texts }: SignInTexts) =>
  Object.entries({ ...texts, ...refused }).map(([name, text]) => [
    name,
    [...new Set(text.match(/\{\w+\}/g))].toSorted(),
  ]);

test("every language has every text of the sign-in form, with the same places to fill", () => {
  expect(placesOf(signInTextsGerman)).toEqual(placesOf(signInTexts));
});
