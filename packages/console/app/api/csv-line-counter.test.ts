import { describe, expect, test } from "@jest/globals";
import { createCsvLineCounter } from "./csv-line-counter.ts";

const csv = Buffer.from('id,description\r\n"1","a ""b"",\r\nc €"\r\n"2",""\r\n');

const countInChunks = (bytes: Uint8Array, chunkBytes: number) => {
  const counter = createCsvLineCounter();
  for (let offset = 0; offset < bytes.length; offset += chunkBytes) {
    counter.add(bytes.subarray(offset, offset + chunkBytes));
  }
  return counter;
};

describe("the lines of a CSV", () => {
  test("are counted alike however the file is cut into pieces; a line end in quotes ends none", () => {
    for (let bytes = 1; bytes <= csv.length; bytes += 1) {
      expect([bytes, countInChunks(csv, bytes).lineCount()]).toEqual([bytes, 3]);
    }
  });

  test("tell a file that ends within a line, or within quotes, from a whole one", () => {
    const isComplete = (length: number) => countInChunks(csv.subarray(0, length), 7).isComplete();
    const completeLengths = Array.from(
      { length: csv.length + 1 },
      (_none, length) => length,
    ).filter(isComplete);
    expect(completeLengths).toEqual([16, csv.indexOf('"2"'), csv.length]);
  });
});
