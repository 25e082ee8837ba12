import { expect, test } from "@jest/globals";
import { extractToken } from "./extract-token.ts";

test.each([
  ["https://pay.example/console/sign-in#token=abc", "abc"],
  [" abc ", "abc"],
  ["#token=abc", "abc"],
])("extracts from %j the token %j", (pastedLink, token) => {
  expect(extractToken(pastedLink)).toBe(token);
});
