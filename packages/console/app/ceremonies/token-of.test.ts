import { expect, test } from "@jest/globals";
import { tokenOf } from "./token-of.ts";

test.each([
  ["https://pay.example/console/sign-in#token=abc", "abc"],
  [" abc ", "abc"],
  ["#token=abc", "abc"],
])("the token of %j is %j", (pasted, token) => {
  expect(tokenOf(pasted)).toBe(token);
});
