import { describe, expect, test } from "@jest/globals";
import { createCsvFormatter } from "./csv-formatter.ts";

const { formatRow } = createCsvFormatter<{ text: string }>({ text: ({ text }) => text });

/**
 * Splits a line as a spreadsheet does. Quotes protect the separator only at the start of a cell.
 */
const parseCells = (csvLine: string, separator: string): string[] => {
  const cells: string[] = [];
  let remainingText = csvLine;
  while (remainingText !== "") {
    const quotedText = /^"(?:[^"]|"")*"/.exec(remainingText)?.[0] ?? "";
    const separatorOffset = remainingText
      .slice(quotedText.length)
      .search(new RegExp(`[${separator}\r\n]`));
    const length =
      separatorOffset === -1 ? remainingText.length : quotedText.length + separatorOffset;
    const unescapedText = quotedText.slice(1, -1).replaceAll('""', '"');
    cells.push(unescapedText + remainingText.slice(quotedText.length, length));
    remainingText = remainingText.slice(length + 1);
  }
  return cells;
};

const formulaPattern = /^[\s"]*[=+\-@]/;

describe("a line of CSV", () => {
  const texts = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1+1",
    "order;=1+1",
    "order; =1+1",
    'order;"=1+1"',
    "order;;=1+1",
    "order\t=1+1",
    "order\n=1+1",
    'order";=1+1;"',
    '";=1+1',
    "a;-1;+1;@x",
  ];
  const separators = [
    [",", ","],
    [";", ";"],
    ["a tab", "\t"],
  ];

  test.each(separators)(
    "contains no formula for a reader with the separator %s",
    (_name, separator) => {
      for (const text of texts) {
        for (const cell of parseCells(`"first",${formatRow({ text })}`, separator ?? "")) {
          expect(cell).not.toMatch(formulaPattern);
        }
      }
    },
  );

  // With quadratic time, this test would reach its time limit.
  test("with a million line breaks is formatted", () => {
    const text = "\n".repeat(1_000_000);
    expect(formatRow({ text })).toBe(`"'${text}"\r\n`);
  });

  test("leaves other text unchanged", () => {
    for (const text of ["Order 7", "a=b", "1-2", "x; y", "2026-11-28T10:00:00.000Z"]) {
      expect(formatRow({ text })).toBe(`"${text}"\r\n`);
    }
  });
});
