import { afterEach, expect, test } from "@jest/globals";
import { parseDateRange } from "./parse-date-range.ts";

const timeZone = process.env["TZ"];
afterEach(() => {
  if (timeZone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = timeZone;
});

test("days are in the user's time zone, and the range includes a last day of 25 hours", () => {
  process.env["TZ"] = "Europe/Berlin";
  expect(parseDateRange({ from: "2026-10-25", to: "2026-10-25" })).toEqual({
    from: "2026-10-24T22:00:00.000Z",
    to: "2026-10-25T23:00:00.000Z",
  });
});

test("an invalid day leaves its end of the range open", () => {
  for (const invalidDay of [undefined, null, "", "x", "2026-13-01"]) {
    expect(parseDateRange({ from: invalidDay ?? null, to: invalidDay ?? null })).toEqual({});
  }
});
