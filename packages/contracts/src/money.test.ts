import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import * as z from "zod";
import {
  Amount,
  Decimal,
  fitsBaseUnits,
  fitsDecimals,
  formatAmount,
  parseDecimal,
} from "./money.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";
import { measureCpuMs } from "./testing/cpu-time.ts";

const parseAndFormat = (text: string): string => {
  const value = parseDecimal(text);
  return typeof value === "string" ? value : formatAmount(value);
};

describe("parseDecimal", () => {
  test.each([
    ["25", "25"],
    ["0.1", "0.1"],
    ["12345678901234567.123456", "12345678901234567.123456"],
    ["  25 ", "25"],
    ["25\n", "25"],
    ["+5", "5"],
    ["-5", "-5"],
    [".5", "0.5"],
    ["5.", "5"],
    ["007", "7"],
    ["1.10", "1.1"],
    ["1.0000000", "1"],
    ["1e3", "1000"],
    ["1E+3", "1000"],
    ["1e-3", "0.001"],
    ["1e0000000000000003", "1000"],
    ["-0", "0"],
    ["0e5", "0"],
  ])("parses %j as %s", (text, amount) => {
    expect(parseAndFormat(text)).toBe(amount);
  });

  test.each([
    "",
    " ",
    ".",
    "+",
    "--1",
    "1 2",
    "1,5",
    "0x10",
    "0b1",
    "1_000",
    "1e",
    "e5",
    "1e5.5",
    "1.2.3",
    "٢٥",
    "１",
    "5\0",
    "∞",
    "ten",
  ])("rejects %j, which is not a decimal", (text) => {
    expect(parseAndFormat(text)).toBe("decimal_parsing");
  });

  test.each(["NaN", "nan", "sNaN", "-sNaN", "NaN123", "inf", "-Infinity", "+INF"])(
    "rejects %s, which is not finite",
    (text) => {
      expect(parseAndFormat(text)).toBe("finite_number");
    },
  );

  test.each([
    ["78 digits", "9".repeat(78), true],
    ["79 digits", "9".repeat(79), false],
    ["78 digits after the decimal point", `0.${"9".repeat(78)}`, true],
    ["79 digits around the decimal point", `9.${"9".repeat(78)}`, false],
    ["a one and 77 zeros", "1e77", true],
    ["a one and 78 zeros", "1e78", false],
    ["100 decimal places", "1e-100", true],
    ["101 decimal places", "1e-101", false],
    [
      "leading and trailing zeros that are not significant",
      `${"0".repeat(500)}1.${"0".repeat(500)}`,
      true,
    ],
  ])("given %s, applies the limit of 78 digits (rule API-14)", (_name, text, isAccepted) => {
    expect(parseAndFormat(text) !== "decimal_max_digits").toBe(isAccepted);
  });

  test.each([
    "1e999999",
    "1e-999999",
    "1e9999999999999999999",
    "1e-9999999999999999999",
    "0e99999999999",
    `1e${"9".repeat(60_000)}`,
  ])("rejects an absurd exponent immediately: %.30s (rule API-14)", (text) => {
    const cpuMs = measureCpuMs(() => expect(parseAndFormat(text)).toBe("decimal_max_digits"));
    expect(cpuMs).toBeLessThan(500);
  });

  test.each([
    ["digits", "9".repeat(60_000)],
    ["digits that end in a letter", `${"9".repeat(60_000)}x`],
    ["digits around a decimal point", `${"9".repeat(30_000)}.${"9".repeat(30_000)}x`],
    ["zeros", `0.${"0".repeat(60_000)}1`],
    ["blanks", `1${" ".repeat(60_000)}x`],
    ["signs", "-".repeat(60_000)],
  ])("rejects 60 kB of %s in less than half a second of CPU time", (_name, text) => {
    const cpuMs = measureCpuMs(() =>
      expect(["decimal_max_digits", "decimal_parsing"]).toContain(parseAndFormat(text)),
    );
    expect(cpuMs).toBeLessThan(500);
  });

  test("parses every output of formatAmount as the same amount (rule API-12)", () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 78n - 1n });
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 36 }), (baseUnits, decimals) => {
        const amount = new Decimal(`${baseUnits}e-${decimals}`);
        const text = formatAmount(amount);
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(parseAndFormat(text)).toBe(text);
        expect(new Decimal(text).equals(amount)).toBe(true);
      }),
      getPropertyRunOptions({ soak: 1_000 }),
    );
  });
});

describe("Decimal (rule KEEP-9)", () => {
  test("never writes an exponent, neither in a template nor in JSON (rule API-12)", () => {
    const small = new Decimal("1e-18");
    const large = new Decimal("1e77");
    expect(String(small)).toBe("0.000000000000000001");
    expect(JSON.stringify([small, large])).toBe(`["0.000000000000000001","1${"0".repeat(77)}"]`);
  });

  test("adds the largest and the smallest amount without losing a digit", () => {
    const sum = new Decimal("9".repeat(78)).plus(new Decimal("1e-100"));
    expect(formatAmount(sum)).toBe(`${"9".repeat(78)}.${"0".repeat(99)}1`);
  });
});

describe("Amount (rule KEEP-9)", () => {
  test("encodes and decodes the largest and the finest amount without change", () => {
    for (const text of ["0", "0.1", "9".repeat(78), `0.${"0".repeat(99)}1`]) {
      expect(z.encode(Amount, z.decode(Amount, text))).toBe(text);
    }
  });

  test.each(["", "-1", "+1", "01", "1.", ".5", "1.0", "1e3", " 1", "NaN", "1".repeat(201)])(
    "rejects %j, which no service writes",
    (text) => {
      expect(Amount.safeDecode(text).success).toBe(false);
    },
  );

  test.each([new Decimal(-1), new Decimal(Number.NaN), new Decimal(Infinity)])(
    "does not encode %s",
    (amount) => {
      expect(Amount.safeEncode(amount).success).toBe(false);
    },
  );

  test("does not accept a float instead of a Decimal", () => {
    expect(Amount.safeEncode(0.1 as unknown as Decimal).success).toBe(false);
  });
});

describe("fitsDecimals and fitsBaseUnits", () => {
  test.each([
    ["0.123456", 6, true],
    ["0.1234567", 6, false],
    ["0.1234560", 6, true],
    ["1", 0, true],
    ["0.1", 0, false],
    ["1e-18", 18, true],
    ["1e-19", 18, false],
  ])("%s with %i decimals: fitsDecimals returns %s", (text, decimals, isFitting) => {
    expect(fitsDecimals(new Decimal(text), decimals)).toBe(isFitting);
  });

  test.each([
    ["9".repeat(72), 6, true],
    ["9".repeat(73), 6, false],
    ["9".repeat(78), 0, true],
    ["1e60", 18, false],
    ["1e59", 18, true],
    ["0.000001", 6, true],
  ])("%s with %i decimals: fitsBaseUnits returns %s", (text, decimals, isFitting) => {
    expect(fitsBaseUnits(new Decimal(text), decimals)).toBe(isFitting);
  });
});
