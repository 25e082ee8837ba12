import { describe, expect, test } from "@jest/globals";
import {
  selectTrustedHead,
  computeBlockLimits,
  computeSharedLimits,
  planScan,
} from "./plan-scan.ts";

const policy = { finality: "finalized", headLagBlocks: 2, finalDepthBlocks: 65 } as const;
const heads = { latest: 1_000, safe: 960, finalized: 930 };

describe("computeBlockLimits", () => {
  test("scans, settles and finalizes nothing within the head lag", () => {
    expect(computeBlockLimits(heads, policy)).toEqual({
      scanLimit: 998,
      settledBlock: 930,
      finalizedBlock: 930,
    });
    const reportedHeads = { latest: 1_000, safe: 1_000, finalized: 1_000 };
    expect(computeBlockLimits(reportedHeads, policy)).toEqual({
      scanLimit: 998,
      settledBlock: 998,
      finalizedBlock: 998,
    });
  });

  test.each([
    ["safe", 960],
    ["finalized", 930],
    [{ blocks: 0 }, 998],
    [{ blocks: 2 }, 998],
    [{ blocks: 3 }, 997],
    [{ blocks: 12 }, 988],
    [{ blocks: 5_000 }, 0],
  ] as const)("settles up to the right block with finality %j: %i", (finality, settledBlock) => {
    expect(computeBlockLimits(heads, { ...policy, finality })).toMatchObject({
      settledBlock,
      finalizedBlock: 930,
    });
  });

  test("uses the depth for finality and settlement if the chain has no tags", () => {
    const untagged = { latest: 1_000, safe: null, finalized: null };
    expect(computeBlockLimits(untagged, { ...policy, finality: "safe" })).toEqual({
      scanLimit: 998,
      settledBlock: 935,
      finalizedBlock: 935,
    });
    expect(computeBlockLimits({ ...untagged, latest: 10 }, policy)).toEqual({
      scanLimit: 8,
      settledBlock: 0,
      finalizedBlock: 0,
    });
    expect(computeBlockLimits({ ...untagged, latest: 1 }, policy)).toEqual({
      scanLimit: 0,
      settledBlock: 0,
      finalizedBlock: 0,
    });
  });
});

describe("heads of several providers", () => {
  const headsAt = (latest: number) => ({ latest, safe: latest - 30, finalized: latest - 60 });

  test.each([
    ["none", [], 0],
    ["one", [headsAt(1_000)], 1_000],
    ["two: trusts the higher one", [headsAt(1_000), headsAt(1_010)], 1_010],
    [
      "three: no single one misleads the scan",
      [headsAt(1_000), headsAt(9_999), headsAt(1_010)],
      1_010,
    ],
    ["four", [headsAt(9_999), headsAt(1_000), headsAt(1_020), headsAt(1_010)], 1_020],
  ])("gives the newest trusted block: %s", (_who, reportedHeads, expectedHead) => {
    expect(selectTrustedHead(reportedHeads)).toBe(expectedHead);
  });

  test("limits reading by the trusted head, and settlement and finality by what two providers confirm", () => {
    const reportedHeads = [headsAt(1_000), headsAt(1_010)];
    expect(computeSharedLimits(reportedHeads, { ...policy, finality: "safe" }, 2)).toEqual({
      readLimits: { scanLimit: 1_008, settledBlock: 980, finalizedBlock: 950 },
      agreedLimits: { settledBlock: 970, finalizedBlock: 940 },
    });
  });

  test("limits reading to what two of three providers have reached", () => {
    const reportedHeads = [headsAt(9_999), headsAt(1_000), headsAt(1_010)];
    expect(computeSharedLimits(reportedHeads, policy, 2)).toEqual({
      readLimits: { scanLimit: 1_008, settledBlock: 950, finalizedBlock: 950 },
      agreedLimits: { settledBlock: 950, finalizedBlock: 950 },
    });
  });

  test("settles nothing while fewer providers than the quorum answer", () => {
    const { agreedLimits, readLimits } = computeSharedLimits([headsAt(1_000)], policy, 2);
    expect([readLimits.scanLimit, agreedLimits]).toEqual([
      998,
      { settledBlock: -1, finalizedBlock: -1 },
    ]);
    expect(computeSharedLimits([], policy, 1)).toEqual({
      readLimits: { scanLimit: -1, settledBlock: -1, finalizedBlock: -1 },
      agreedLimits: { settledBlock: -1, finalizedBlock: -1 },
    });
  });
});

describe("planScan", () => {
  const limits = { scanLimit: 998, settledBlock: 960, finalizedBlock: 930 };
  const planFrom = (scannedTo: number) => planScan(scannedTo, limits, { rangeBlocksMax: 500 });

  test("reads final blocks in ranges up to the last final block", () => {
    expect(planFrom(0)).toEqual({ kind: "final", tip: 0, fromBlock: 1, toBlock: 930 });
    expect(planScan(0, limits, { rangeBlocksMax: 100 })).toMatchObject({ toBlock: 800 });
    expect(planFrom(829)).toEqual({ kind: "final", tip: 829, fromBlock: 830, toBlock: 930 });
    expect(planFrom(830)).toEqual({ kind: "fresh", tip: 830, fromBlock: 831, toBlock: 930 });
  });

  test("reads a sparse chain in ranges up to its head", () => {
    const sparseOptions = { isSparse: true, rangeBlocksMax: 100 };
    expect(planScan(0, limits, sparseOptions)).toMatchObject({
      kind: "sparse",
      fromBlock: 1,
      toBlock: 800,
    });
    expect(planScan(930, limits, sparseOptions)).toMatchObject({ kind: "sparse", toBlock: 998 });
    expect(planScan(998, limits, sparseOptions)).toEqual({ kind: "none", tip: 998 });
  });

  test("reads newer blocks with headers, a bounded number at a time", () => {
    expect(planFrom(930)).toEqual({ kind: "fresh", tip: 930, fromBlock: 931, toBlock: 998 });
    expect(planScan(930, { ...limits, scanLimit: 5_000 }, { rangeBlocksMax: 500 })).toMatchObject({
      toBlock: 1_030,
    });
    const manyFreshBlocks = { rangeBlocksMax: 500, freshBlocksMax: 300 };
    expect(planScan(930, { ...limits, scanLimit: 5_000 }, manyFreshBlocks)).toMatchObject({
      toBlock: 1_230,
    });
  });

  test("reads the newest blocks with headers even if blocks are final immediately", () => {
    const instantFinalityLimits = { scanLimit: 998, settledBlock: 998, finalizedBlock: 998 };
    expect(planScan(990, instantFinalityLimits, { rangeBlocksMax: 500 })).toEqual({
      kind: "fresh",
      tip: 990,
      fromBlock: 991,
      toBlock: 998,
    });
  });

  test("compares the tip with the node's even without new blocks, as far as the node has come", () => {
    expect(planFrom(998)).toEqual({ kind: "none", tip: 998 });
    expect(planFrom(1_010)).toEqual({ kind: "none", tip: 998 });
  });
});
