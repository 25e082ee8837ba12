/** What each column of a table shows of a row, under the column's name. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | null>>;

/** How a table is written as CSV (RFC 4180): its type, its byte order mark and first line, and a line of each row. */
export type CsvForm<Row> = { type: string; header: string; lineOf: (row: Row) => string };

/** Without it spreadsheets take UTF-8 for the encoding of the country (rule CALLER-34). */
const byteOrderMark = "\uFEFF";

/** Writes rows as CSV in which no cell is a formula. */
export const csvForm = <Row>(columns: CsvColumns<Row>): CsvForm<Row> => {
  const cells = Object.values(columns);
  return {
    type: "text/csv; charset=utf-8; header=present",
    header: `${byteOrderMark}${Object.keys(columns).join(",")}\r\n`,
    lineOf: (row) => `${cells.map((read) => cellOf(read(row) ?? "")).join(",")}\r\n`,
  };
};

/**
 * Spreadsheets run a cell that begins like a formula, and strangers choose what some cells say. In many
 * countries they separate cells by a semicolon, so a cell may begin within a text.
 */
const formulaStart = /(^|[;\t\r\n][\s"]*)(?=[=+\-@])|^(?=[\t\r\n])/g;

const cellOf = (text: string): string => {
  const harmless = text.replaceAll(formulaStart, "$1'");
  return `"${harmless.replaceAll('"', '""')}"`;
};
