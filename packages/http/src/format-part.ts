/** A part of an export has at most so many bytes, or one row. */
export const partBytesMax = 128 * 1024;

/** The text of a part, and the rows that are in it. */
type FormattedPart<Row> = { text: string; rows: readonly Row[] };

/** Writes the lines of rows, as many as fit in a part: at least one if there is any. */
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
