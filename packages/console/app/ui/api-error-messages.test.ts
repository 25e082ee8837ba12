import { expect, test } from "@jest/globals";
import { getApiErrorText } from "./api-error-messages.ts";

test("what is wrong with several values is said once", () => {
  const entries = ["url_parsing", "url_parsing", "string_too_long", "url_parsing"];
  expect(getApiErrorText(entries.map((code) => ({ code, message: "" })))).toBe(
    "The address must begin with http:// or https:// and be whole. The text is too long.",
  );
});

test("of a code without words here, the service's own are said", () => {
  expect(getApiErrorText([{ code: "of_tomorrow", message: "Not today." }])).toBe("Not today.");
});
