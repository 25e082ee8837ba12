const quote = 0x22;
const newline = 0x0a;

/** How many lines have come of a file, and whether it ended with one. */
export type LineCount = {
  add(bytes: Uint8Array): void;
  lineCount(): number;
  isWhole(): boolean;
};

/** Counts the lines of a CSV as it comes, in whatever pieces. A line end within quotes ends no line. */
export const countLines = (): LineCount => {
  let isQuoted = false;
  let lines = 0;
  let last = 0;
  return {
    add: (bytes) => {
      // A plain loop: a large file has half a billion bytes.
      for (let at = 0; at < bytes.length; at += 1) {
        last = bytes[at] ?? 0;
        if (last === quote) isQuoted = !isQuoted;
        else if (last === newline && !isQuoted) lines += 1;
      }
    },
    lineCount: () => lines,
    isWhole: () => last === newline && !isQuoted,
  };
};
