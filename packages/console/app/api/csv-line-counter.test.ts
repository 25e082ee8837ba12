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

describe("createCsvLineCounter", () => {
  test("returns the same count for any chunk size and ignores line breaks in quotes", () => {
    for (let bytes = 1; bytes <= csv.length; bytes += 1) {
      expect([bytes, countInChunks(csv, bytes).lineCount()]).toEqual([bytes, 3]);
    }
  });

  test("detects a file that ends within a line or within quotes", () => {
    const isComplete = (length: number) => countInChunks(csv.subarray(0, length), 7).isComplete();
    const completeLengths = Array.from(
      { length: csv.length + 1 },
      (_none, length) => length,
    ).filter(isComplete);
    expect(completeLengths).toEqual([16, csv.indexOf('"2"'), csv.length]);
  });
});
