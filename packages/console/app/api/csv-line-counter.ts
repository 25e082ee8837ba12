const quote = 0x22;
const newline = 0x0a;

/**
 * Counts the lines of a file as it arrives. `isComplete` means that the file ends with a complete
 * line.
 */
export type CsvLineCounter = {
  add(bytes: Uint8Array): void;
  lineCount(): number;
  isComplete(): boolean;
};

/**
 * Creates a counter for a CSV that arrives in chunks of any size. A line break within quotes does
 * not end a line.
 */
export const createCsvLineCounter = (): CsvLineCounter => {
  let isQuoted = false;
  let lines = 0;
  let lastByte = 0;
  return {
    add: (bytes) => {
      // A plain loop, because it is fast: a large file has about 500 MB.
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
