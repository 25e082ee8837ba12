import { afterEach, expect, test } from "@jest/globals";
import { readDays } from "./read-days.ts";

const zone = process.env["TZ"];
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

test("days are the person's own, and the last one is meant whole, also where it has 25 hours", () => {
  process.env["TZ"] = "Europe/Berlin";
  expect(readDays({ from: "2026-10-25", to: "2026-10-25" })).toEqual({
    from: "2026-10-24T22:00:00.000Z",
    to: "2026-10-25T23:00:00.000Z",
  });
});

test("what is no day leaves its side open", () => {
  for (const none of [undefined, null, "", "x", "2026-13-01"]) {
    expect(readDays({ from: none ?? null, to: none ?? null })).toEqual({});
  }
});
