import { describe, expect, test } from "@jest/globals";
import { partBytesMax, formatPart } from "./format-part.ts";

describe("a part of an export", () => {
  test("has as many rows as fit in 128 KiB of UTF-8 (rule CALLER-35)", () => {
    const rows = Array.from({ length: 250 }, (_, index) => index);
    const { rows: writtenRows, text } = formatPart(rows, () => "界".repeat(500));
    expect(writtenRows).toEqual(rows.slice(0, Math.floor(partBytesMax / 1_500)));
    expect(Buffer.byteLength(text)).toBe(writtenRows.length * 1_500);
  });

  test("has at least one row, and all rows if they fit", () => {
    const { rows } = formatPart([1, 2], () => "x".repeat(partBytesMax + 1));
    expect(rows).toEqual([1]);
    expect(formatPart([1, 2], String)).toEqual({ rows: [1, 2], text: "12" });
    expect(formatPart([], String)).toEqual({ rows: [], text: "" });
  });
});
