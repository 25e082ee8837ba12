import { describe, expect, test } from "@jest/globals";
import { countLines } from "./count-lines.ts";

const file = Buffer.from('id,description\r\n"1","a ""b"",\r\nc €"\r\n"2",""\r\n');

const countOf = (bytes: Uint8Array, pieceBytes: number) => {
  const count = countLines();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    count.add(bytes.subarray(at, at + pieceBytes));
  }
  return count;
};

describe("the lines of a CSV", () => {
  test("are counted alike however the file is cut into pieces; a line end in quotes ends none", () => {
    for (let bytes = 1; bytes <= file.length; bytes += 1) {
      expect([bytes, countOf(file, bytes).lineCount()]).toEqual([bytes, 3]);
    }
  });

  test("tell a file that ends within a line, or within quotes, from a whole one", () => {
    const isWhole = (length: number) => countOf(file.subarray(0, length), 7).isWhole();
    const ends = Array.from({ length: file.length + 1 }, (_none, length) => length).filter(isWhole);
    expect(ends).toEqual([16, file.indexOf('"2"'), file.length]);
  });
});
