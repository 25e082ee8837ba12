const quote = 0x22;
const newline = 0x0a;

/** How many lines have come of a file, and whether it ended with one. */
export type CsvLineCounter = {
  add(bytes: Uint8Array): void;
  lineCount(): number;
  isComplete(): boolean;
};

/** Counts the lines of a CSV as it comes, in whatever pieces. A line end within quotes ends no line. */
export const createCsvLineCounter = (): CsvLineCounter => {
  let isQuoted = false;
  let lines = 0;
  let lastByte = 0;
  return {
    add: (bytes) => {
      // A plain loop: a large file has half a billion bytes.
      for (let index = 0; index < bytes.length; index += 1) {
        lastByte = bytes[index] ?? 0;
        if (lastByte === quote) isQuoted = !isQuoted;
        else if (lastByte === newline && !isQuoted) lines += 1;
      }
    },
    lineCount: () => lines,
    isComplete: () => lastByte === newline && !isQuoted,
  };
};
