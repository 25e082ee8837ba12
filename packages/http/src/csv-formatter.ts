/** What each column of a table shows of a row, under the column's name. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | null>>;

/** How a table is written as CSV (RFC 4180): its type, its byte order mark and first line, and a line of each row. */
export type CsvFormatter<Row> = { type: string; header: string; formatRow: (row: Row) => string };

/** Without it spreadsheets take UTF-8 for the encoding of the country (rule CALLER-34). */
const byteOrderMark = "\uFEFF";

/** Writes rows as CSV in which no cell is a formula. */
export const createCsvFormatter = <Row>(columns: CsvColumns<Row>): CsvFormatter<Row> => {
  const formatters = Object.values(columns);
  return {
    type: "text/csv; charset=utf-8; header=present",
    header: `${byteOrderMark}${Object.keys(columns).join(",")}\r\n`,
    formatRow: (row) =>
      `${formatters.map((formatCell) => escapeCell(formatCell(row) ?? "")).join(",")}\r\n`,
  };
};

/**
 * Spreadsheets run a cell that begins like a formula, and strangers choose what some cells say. In many
 * countries they separate cells by a semicolon, so a cell may begin within a text.
 */
const formulaStartPattern = /(^|[;\t\r\n][\s"]*)(?=[=+\-@])|^(?=[\t\r\n])/g;

const escapeCell = (text: string): string => {
  const neutralized = text.replaceAll(formulaStartPattern, "$1'");
  return `"${neutralized.replaceAll('"', '""')}"`;
};
