import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { Instant, parseInstant } from "./instant.ts";
import { measureCpuMs } from "./testing/cpu-time.ts";

describe("parseInstant", () => {
  test.each([
    ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2026-11-21 10:00:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00+02:00", "2026-11-21T08:00:00.000Z"],
    ["2026-11-21T10:00:00+0200", "2026-11-21T08:00:00.000Z"],
    ["2026-11-21T10:00:00-05:30", "2026-11-21T15:30:00.000Z"],
    ["2026-11-21T10:00:00-00:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T00:30:00+23:59", "2026-11-20T00:31:00.000Z"],
    ["2026-11-21T10:00:00.1", "2026-11-21T10:00:00.100Z"],
    ["2026-11-21T10:00:00,25Z", "2026-11-21T10:00:00.250Z"],
    ["2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T10:00:00.9999999999999999Z", "2026-11-21T10:00:00.999Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0099-12-31", "0099-12-31T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("parses %s as %s (rule API-15)", (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  });

  test.each([
    ["empty text", ""],
    ["a word", "now"],
    ["a year", "2026"],
    ["a month", "2026-11"],
    ["a week", "2026-W47-6"],
    ["basic format", "20261121T100000Z"],
    ["Unix seconds", "1795255200"],
    ["one-digit components", "2026-1-1"],
    ["a date with an empty time", "2026-11-21T"],
    ["an hour without minutes", "2026-11-21T10"],
    ["an offset without a time", "2026-11-21Z"],
    ["surrounding spaces", " 2026-11-21T10:00:00Z "],
    ["a trailing newline", "2026-11-21T10:00:00Z\n"],
    ["a space before the offset", "2026-11-21T10:00:00 +02:00"],
    ["an offset without minutes", "2026-11-21T10:00:00+02"],
    ["an offset of 24 hours", "2026-11-21T10:00:00+24:00"],
    ["an offset of 60 minutes", "2026-11-21T10:00:00+02:60"],
    ["an empty fraction", "2026-11-21T10:00:00.Z"],
    ["month 0", "2026-00-10"],
    ["month 13", "2026-13-10"],
    ["day 0", "2026-11-00"],
    ["day 31 of a month with 30 days", "2026-11-31"],
    ["February 29 of a common year", "2026-02-29T00:00:00Z"],
    ["February 29 of 1900", "1900-02-29"],
    ["24:00", "2026-11-21T24:00:00Z"],
    ["minute 60", "2026-11-21T10:60:00Z"],
    ["a leap second", "2026-12-31T23:59:60Z"],
    ["the year 0", "0000-01-01T00:00:00Z"],
    ["the year 0 because of its offset", "0001-01-01T00:00:00+00:01"],
    ["the year 10000 because of its offset", "9999-12-31T23:59:59-00:01"],
    ["a signed year", "+002026-11-21T10:00:00Z"],
    ["digits of another script", "٢٠٢٦-11-21"],
  ])("rejects %s (rule API-15)", (_name, text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test("rejects any 60 kB text in less than half a second of CPU time", () => {
    const cpuMs = measureCpuMs(() => {
      expect(parseInstant(`2026-11-21T10:00:00.${"9".repeat(60_000)}x`)).toBeUndefined();
      expect(parseInstant(`2026-11-21T10:00:00${" ".repeat(60_000)}x`)).toBeUndefined();
    });
    expect(cpuMs).toBeLessThan(500);
  });
});

describe("Instant", () => {
  test("encodes and decodes every instant that parseInstant accepts", () => {
    for (const text of ["0001-01-01", "2026-11-21T10:00:00.123Z", "9999-12-31T23:59:59.999Z"]) {
      const instant = parseInstant(text) ?? new Date(Number.NaN);
      expect(z.decode(Instant, z.encode(Instant, instant))).toEqual(instant);
    }
  });

  test("rejects an instant with an offset, which no service writes", () => {
    expect(Instant.safeDecode("2026-11-21T10:00:00+02:00").success).toBe(false);
  });
});
