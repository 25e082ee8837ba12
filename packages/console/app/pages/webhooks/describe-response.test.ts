import { expect, test } from "@jest/globals";
import { describeResponse } from "./describe-response.ts";

test.each([
  [200, null, "HTTP 200"],
  [503, "status 503", "HTTP 503"],
  [null, "time-out", "time-out"],
  [503, "endpoint disabled", "HTTP 503 · endpoint disabled"],
  [null, null, null],
])("the response of status %p with the error %p is %p", (httpStatus, error, text) => {
  expect(describeResponse({ httpStatus, error })).toBe(text);
});
