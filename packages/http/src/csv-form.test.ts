import { describe, expect, test } from "@jest/globals";
import { csvForm } from "./csv-form.ts";

const { lineOf } = csvForm<{ text: string }>({ text: ({ text }) => text });

/** The cells of a line as a spreadsheet reads them: quotes hold the separator only where they begin a cell. */
const cellsOf = (line: string, separator: string): string[] => {
  const cells: string[] = [];
  let rest = line;
  while (rest !== "") {
    const quoted = /^"(?:[^"]|"")*"/.exec(rest)?.[0] ?? "";
    const end = rest.slice(quoted.length).search(new RegExp(`[${separator}\r\n]`));
    const length = end === -1 ? rest.length : quoted.length + end;
    const inner = quoted.slice(1, -1).replaceAll('""', '"');
    cells.push(inner + rest.slice(quoted.length, length));
    rest = rest.slice(length + 1);
  }
  return cells;
};

const formula = /^[\s"]*[=+\-@]/;

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

  test.each(separators)("has no formula for a reader that separates by %s", (_name, separator) => {
    for (const text of texts) {
      for (const cell of cellsOf(`"first",${lineOf({ text })}`, separator ?? "")) {
        expect(cell).not.toMatch(formula);
      }
    }
  });

  test("leaves other texts as they are", () => {
    for (const text of ["Order 7", "a=b", "1-2", "x; y", "2026-11-28T10:00:00.000Z"]) {
      expect(lineOf({ text })).toBe(`"${text}"\r\n`);
    }
  });
});
