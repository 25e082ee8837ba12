import { expect, test } from "@jest/globals";
import { formatDay, formatDayRange } from "./format-day.ts";

const normalizeSpaces = (text: string) => text.replaceAll(/\s/g, " ");

test.each([
  ["UTC", "Nov 21", "Sat, Nov 21"],
  ["Europe/London", "Nov 21", "Sat, Nov 21"],
  ["America/New_York", "Nov 21", "Nov 20, 7:00 PM – Nov 21, 7:00 PM"],
  ["Asia/Kolkata", "Nov 21", "Nov 21, 5:30 AM – Nov 22, 5:30 AM"],
  ["Pacific/Kiritimati", "Nov 22", "Nov 21, 2:00 PM – Nov 22, 2:00 PM"],
])("in %s, 2026-11-21 in UTC is shown as %s, from its start to its end", (timeZone, day, range) => {
  expect(formatDay("2026-11-21", timeZone)).toBe(day);
  expect(normalizeSpaces(formatDayRange("2026-11-21", timeZone))).toBe(range);
});
