/** A row of a Markdown table. The keys are the column headings. */
type Row = Record<string, string>;

/**
 * Returns the rows of the table whose first column has the given heading. Throws if there is no
 * such table.
 */
export const readTable = (page: string, firstHeading: string): readonly Row[] => {
  const lines = page.split("\n");
  const startIndex = lines.findIndex((line) => line.startsWith(`| ${firstHeading} |`));
  if (startIndex === -1) throw new Error(`the page has no table of ${firstHeading}`);
  const length = lines.slice(startIndex).findIndex((line) => !line.startsWith("|"));
  const parseCells = (line: string) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
  const [headings = [], , ...rows] = lines.slice(startIndex, startIndex + length).map(parseCells);
  return rows.map((cells) =>
    Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? ""])),
  );
};
