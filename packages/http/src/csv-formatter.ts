/** Maps each column name to the function that returns its cell for a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | null>>;

/**
 * A CSV format (RFC 4180): the media type, the header line with byte order mark, and the row
 * formatter.
 */
export type CsvFormatter<Row> = { type: string; header: string; formatRow: (row: Row) => string };

/**
 * Without a byte order mark, spreadsheets assume a regional encoding instead of UTF-8 (rule
 * CALLER-34).
 */
const byteOrderMark = "\uFEFF";

/** Creates a CSV formatter that neutralizes formulas in cells. */
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
 * Matches the start of a formula. Spreadsheets evaluate formulas, and some cells contain text from
 * untrusted users. In many countries spreadsheets separate cells by semicolons, so a formula can
 * also start after a semicolon inside the text. Looks back from each operator, because looking ahead
 * from each line break takes quadratic time.
 */
const formulaStartPattern = /(?=[=+\-@])(?<=^|[;\t\r\n][\s"]*)|^(?=[\t\r\n])/g;

const escapeCell = (text: string): string => {
  const neutralized = text.replaceAll(formulaStartPattern, "'");
  return `"${neutralized.replaceAll('"', '""')}"`;
};
