import { describe, expect, test } from "@jest/globals";
import { transfersPerCommitMax } from "../../sightings/record-transfers.ts";
import type { Pointer } from "../chain-reader.ts";
import { cutPointers } from "./cut-pointers.ts";

/** So many pointers in each of the blocks 1, 2, …. */
const pointersOf = (...counts: number[]): Pointer[] =>
  counts.flatMap((count, index) =>
    Array.from({ length: count }, () => ({
      blockNumber: index + 1,
      blockHash: "0x02",
      transactionHash: "0x03",
    })),
  );

const cut = (...counts: number[]) =>
  cutPointers(pointersOf(...counts), 100).map(({ pointers, endNumber }) => [
    pointers.length,
    endNumber,
  ]);

describe("cutPointers", () => {
  test("what fits is one piece up to the range's end, also where there is nothing", () => {
    expect(cut()).toEqual([[0, 100]]);
    expect(cut(1, 2, 3)).toEqual([[6, 100]]);
    expect(cut(transfersPerCommitMax)).toEqual([[transfersPerCommitMax, 100]]);
    expect(cut(transfersPerCommitMax - 1, 1)).toEqual([[transfersPerCommitMax, 100]]);
  });

  test("what does not is cut between blocks", () => {
    const most = transfersPerCommitMax - 1;
    expect(cut(most, 2)).toEqual([
      [most, 1],
      [2, 100],
    ]);
    expect(cut(most, 1, 1, most, 5)).toEqual([
      [most + 1, 2],
      [most + 1, 4],
      [5, 100],
    ]);
  });

  test("a block with more than fits is a piece of its own", () => {
    const many = transfersPerCommitMax * 2;
    expect(cut(many, 1)).toEqual([
      [many, 1],
      [1, 100],
    ]);
    expect(cut(1, many, 1)).toEqual([
      [1, 1],
      [many, 2],
      [1, 100],
    ]);
  });
});
