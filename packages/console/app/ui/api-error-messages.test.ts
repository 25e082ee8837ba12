import { expect, test } from "@jest/globals";
import { getApiErrorText } from "./api-error-messages.ts";

test("the same problem with several values is shown once", () => {
  const entries = ["url_parsing", "url_parsing", "string_too_long", "url_parsing"];
  expect(getApiErrorText(entries.map((code) => ({ code, message: "" })))).toBe(
    "Enter a full URL that starts with http:// or https://. The text is too long.",
  );
});

test("a code without a text shows the service's message", () => {
  expect(getApiErrorText([{ code: "of_tomorrow", message: "Not today." }])).toBe("Not today.");
});
