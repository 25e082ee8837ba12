/** Encodes numbers as 16-bit words. All tables of a font consist of them. */
const encodeWords = (...lines: readonly (readonly number[])[]): Buffer => {
  const words = lines.flat();
  const bytes = Buffer.alloc(2 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt16BE(word & 0xff_ff, 2 * index);
  return bytes;
};

const unitsPerEm = 1000;
const advance = 500;
const [left, right, top] = [50, 450, 500];

// One contour of four points on the curve: the changes of x, then those of y.
const box = [
  [1, left, 0, right, top],
  [3, 0, 0x01_01, 0x01_01],
  [left, 0, right - left, 0],
  [0, top, 0, -top],
  [0],
].flat();

/** The tables by tag: https://learn.microsoft.com/typography/opentype/spec/otff */
const tables: Readonly<Record<string, Buffer>> = {
  "OS/2": encodeWords(
    [0, advance, 400, 5, 0, 650, 700, 0, 140, 650, 700, 0, 480, 50, 250, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0x40, 0x20, 0xff_ff, 800, -200, 0, 800, 200],
  ),
  // Format 13 maps ranges of characters to one glyph: the space to glyph 1, all others to glyph 2.
  cmap: encodeWords(
    [0, 1, 3, 10, 0, 12],
    [13, 0, 0, 40, 0, 0, 0, 2],
    [0, 0x20, 0, 0x20, 0, 1],
    [0, 0x21, 0x10, 0xff_ff, 0, 2],
  ),
  glyf: encodeWords(box, box),
  head: encodeWords(
    [1, 0, 1, 0, 0, 0, 0x5f_0f, 0x3c_f5, 0, unitsPerEm],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [left, 0, right, top, 0, 8, 2, 0, 0],
  ),
  hhea: encodeWords([1, 0, 800, -200, 0, advance, left, left, right], [1, 0, 0, 0, 0, 0, 0, 0, 1]),
  hmtx: encodeWords([advance, left, 0, left]),
  // The glyphs are a box, a space and the same box.
  loca: encodeWords([0, box.length, box.length, 2 * box.length]),
  maxp: encodeWords([1, 0, 3, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
  name: encodeWords([0, 0, 6]),
  post: encodeWords([3, 0, 0, 0, -100, 50, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
};

/**
 * A TrueType font in which every character is a box of the same width. With it, a page has the same
 * layout on machines that have different fonts.
 */
export const createBoxFont = (): Buffer => {
  const entries = Object.entries(tables);
  const header = encodeWords([1, 0, entries.length, 128, 3, 16 * entries.length - 128]);
  let offset = header.length + 16 * entries.length;
  const parts = entries.map(([tag, table]) => {
    const record = Buffer.alloc(16);
    record.write(tag, "latin1");
    record.writeUInt32BE(offset, 8);
    record.writeUInt32BE(table.length, 12);
    const paddedTable = Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
    offset += paddedTable.length;
    return { record, paddedTable };
  });
  return Buffer.concat([
    header,
    ...parts.map(({ record }) => record),
    ...parts.map(({ paddedTable }) => paddedTable),
  ]);
};
