import { describe, expect, test } from "@jest/globals";
import { transfersPerCommitMax } from "../../payment-reports/record-transfers.ts";
import type { TransactionPointer } from "@payment-links/chains/chain-reader";
import { splitPointers } from "./split-pointers.ts";

/** Creates pointers in consecutive blocks from 1. Each argument is the number of pointers in a block. */
const createPointers = (...counts: number[]): TransactionPointer[] =>
  counts.flatMap((count, index) =>
    Array.from({ length: count }, () => ({
      blockNumber: index + 1,
      blockHash: "0x02",
      transactionHash: "0x03",
    })),
  );

const splitCounts = (...counts: number[]) =>
  splitPointers(createPointers(...counts), 100).map(({ pointers, endBlock }) => [
    pointers.length,
    endBlock,
  ]);

describe("splitPointers", () => {
  test("returns one batch up to the range's end if everything fits, even without pointers", () => {
    expect(splitCounts()).toEqual([[0, 100]]);
    expect(splitCounts(1, 2, 3)).toEqual([[6, 100]]);
    expect(splitCounts(transfersPerCommitMax)).toEqual([[transfersPerCommitMax, 100]]);
    expect(splitCounts(transfersPerCommitMax - 1, 1)).toEqual([[transfersPerCommitMax, 100]]);
  });

  test("splits between blocks if not everything fits", () => {
    const fullBatch = transfersPerCommitMax - 1;
    expect(splitCounts(fullBatch, 2)).toEqual([
      [fullBatch, 1],
      [2, 100],
    ]);
    expect(splitCounts(fullBatch, 1, 1, fullBatch, 5)).toEqual([
      [fullBatch + 1, 2],
      [fullBatch + 1, 4],
      [5, 100],
    ]);
  });

  test("makes a block that exceeds the limit its own batch", () => {
    const overfullBlock = transfersPerCommitMax * 2;
    expect(splitCounts(overfullBlock, 1)).toEqual([
      [overfullBlock, 1],
      [1, 100],
    ]);
    expect(splitCounts(1, overfullBlock, 1)).toEqual([
      [1, 1],
      [overfullBlock, 2],
      [1, 100],
    ]);
  });
});
