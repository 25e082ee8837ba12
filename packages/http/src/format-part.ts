/**
 * The maximum size of one part of an export. A part always has at least one row, even if that row
 * is larger.
 */
export const partBytesMax = 128 * 1024;

/** The text of a part and the rows that it contains. */
type FormattedPart<Row> = { text: string; rows: readonly Row[] };

/** Formats as many rows as fit in a part, but at least one. */
export const formatPart = <Row>(
  rows: readonly Row[],
  formatRow: (row: Row) => string,
): FormattedPart<Row> => {
  let text = "";
  let byteCount = 0;
  let rowCount = 0;
  for (const row of rows) {
    const line = formatRow(row);
    byteCount += Buffer.byteLength(line);
    if (rowCount > 0 && byteCount > partBytesMax) break;
    text += line;
    rowCount += 1;
  }
  return { text, rows: rows.slice(0, rowCount) };
};
