import { describe, expect, test } from "@jest/globals";
import { believeHead, drawLines, drawSharedLines, planScan } from "./plan-scan.ts";

const policy = { finality: "finalized", headLagBlocks: 2, finalDepthBlocks: 65 } as const;
const heads = { latest: 1_000, safe: 960, finalized: 930 };

describe("drawLines", () => {
  test("nothing above the head's lag is scanned, settled or final", () => {
    expect(drawLines(heads, policy)).toEqual({ scan: 998, settle: 930, final: 930 });
    const told = { latest: 1_000, safe: 1_000, finalized: 1_000 };
    expect(drawLines(told, policy)).toEqual({ scan: 998, settle: 998, final: 998 });
  });

  test.each([
    ["safe", 960],
    ["finalized", 930],
    [{ blocks: 0 }, 998],
    [{ blocks: 2 }, 998],
    [{ blocks: 3 }, 997],
    [{ blocks: 12 }, 988],
    [{ blocks: 5_000 }, 0],
  ] as const)("the policy %j settles up to %i", (finality, settle) => {
    expect(drawLines(heads, { ...policy, finality })).toMatchObject({ settle, final: 930 });
  });

  test("where the chain has no tags, depth says what is final, and that settles", () => {
    const untagged = { latest: 1_000, safe: null, finalized: null };
    expect(drawLines(untagged, { ...policy, finality: "safe" })).toEqual({
      scan: 998,
      settle: 935,
      final: 935,
    });
    expect(drawLines({ ...untagged, latest: 10 }, policy)).toEqual({
      scan: 8,
      settle: 0,
      final: 0,
    });
    expect(drawLines({ ...untagged, latest: 1 }, policy)).toEqual({ scan: 0, settle: 0, final: 0 });
  });
});

describe("what several providers tell", () => {
  const at = (latest: number) => ({ latest, safe: latest - 30, finalized: latest - 60 });

  test.each([
    ["nobody", [], 0],
    ["one", [at(1_000)], 1_000],
    ["two: the further one is believed", [at(1_000), at(1_010)], 1_010],
    ["three: no one of them leads astray", [at(1_000), at(9_999), at(1_010)], 1_010],
    ["four", [at(9_999), at(1_000), at(1_020), at(1_010)], 1_020],
  ])("is believed of the newest block: %s", (_who, told, head) => {
    expect(believeHead(told)).toBe(head);
  });

  test("is read as far as it is believed, and settles and is final as far as two vouch for it", () => {
    const told = [at(1_000), at(1_010)];
    expect(drawSharedLines(told, { ...policy, finality: "safe" }, 2)).toEqual({
      read: { scan: 1_008, settle: 980, final: 950 },
      agreed: { settle: 970, final: 940 },
    });
  });

  test("of three is read no further than two of them have come", () => {
    const told = [at(9_999), at(1_000), at(1_010)];
    expect(drawSharedLines(told, policy, 2)).toEqual({
      read: { scan: 1_008, settle: 950, final: 950 },
      agreed: { settle: 950, final: 950 },
    });
  });

  test("settles nothing while fewer tell anything than must agree", () => {
    const { agreed, read } = drawSharedLines([at(1_000)], policy, 2);
    expect([read.scan, agreed]).toEqual([998, { settle: -1, final: -1 }]);
    expect(drawSharedLines([], policy, 1)).toEqual({
      read: { scan: -1, settle: -1, final: -1 },
      agreed: { settle: -1, final: -1 },
    });
  });
});

describe("planScan", () => {
  const lines = { scan: 998, settle: 960, final: 930 };
  const plan = (scannedTo: number) => planScan(scannedTo, lines, { rangeBlocksMax: 500 });

  test("final blocks are read in ranges up to the last final one", () => {
    expect(plan(0)).toEqual({ kind: "final", tip: 0, fromBlock: 1, toBlock: 930 });
    expect(planScan(0, lines, { rangeBlocksMax: 100 })).toMatchObject({ toBlock: 800 });
    expect(plan(829)).toEqual({ kind: "final", tip: 829, fromBlock: 830, toBlock: 930 });
    expect(plan(830)).toEqual({ kind: "fresh", tip: 830, fromBlock: 831, toBlock: 930 });
  });

  test("a sparse chain is read in ranges up to its head", () => {
    const sparse = { isSparse: true, rangeBlocksMax: 100 };
    expect(planScan(0, lines, sparse)).toMatchObject({
      kind: "sparse",
      fromBlock: 1,
      toBlock: 800,
    });
    expect(planScan(930, lines, sparse)).toMatchObject({ kind: "sparse", toBlock: 998 });
    expect(planScan(998, lines, sparse)).toEqual({ kind: "none", tip: 998 });
  });

  test("later ones by their headers, a bounded number at a time", () => {
    expect(plan(930)).toEqual({ kind: "fresh", tip: 930, fromBlock: 931, toBlock: 998 });
    expect(planScan(930, { ...lines, scan: 5_000 }, { rangeBlocksMax: 500 })).toMatchObject({
      toBlock: 1_030,
    });
    const many = { rangeBlocksMax: 500, freshBlocksMax: 300 };
    expect(planScan(930, { ...lines, scan: 5_000 }, many)).toMatchObject({ toBlock: 1_230 });
  });

  test("the newest ones by their headers as well where blocks are final at once", () => {
    const atOnce = { scan: 998, settle: 998, final: 998 };
    expect(planScan(990, atOnce, { rangeBlocksMax: 500 })).toEqual({
      kind: "fresh",
      tip: 990,
      fromBlock: 991,
      toBlock: 998,
    });
  });

  test("where there is nothing new the tip is still held against the node's, where it has come to", () => {
    expect(plan(998)).toEqual({ kind: "none", tip: 998 });
    expect(plan(1_010)).toEqual({ kind: "none", tip: 998 });
  });
});
