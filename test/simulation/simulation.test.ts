import { basename, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readFaults } from "../faults/read-faults.ts";
import { listMissingKinds } from "./kinds.ts";
import { type FixedSeed, seeds, soakSeeds } from "./seeds.ts";
import { simulate, tellFinding } from "./simulate.ts";

const testMsMax = 30 * 60_000;

describe("the simulation", () => {
  test(
    "finds nothing with its fixed seeds, which play every kind of trouble",
    async () => {
      const { counts, digests, found } = await simulate({ seeds: seeds.map(({ seed }) => seed) });
      if (found !== undefined) throw new Error(tellFinding(found));
      expect(digests).toHaveLength(seeds.length);
      expect(listMissingKinds(counts)).toEqual([]);
    },
    testMsMax,
  );

  test(
    "replays a seed exactly",
    async () => {
      const [{ seed } = { seed: 0 }] = seeds;
      const play = async () => (await simulate({ seeds: [seed] })).digests;
      expect({ seed, digests: await play() }).toEqual({ seed, digests: await play() });
    },
    testMsMax,
  );

  test("lists the seeds of every planted fault, and plays at least one of them", () => {
    const faults = readFaults(join(import.meta.dirname, "../..")).filter((one) => one.seeds);
    const played = new Set(seeds.map(({ seed }) => seed));
    const listed = faults.map(({ id }) => {
      const isOfFault = ({ catches = [] }: FixedSeed) => catches.includes(basename(id));
      const ofFault = [...seeds, ...soakSeeds].filter(isOfFault).map(({ seed }) => seed);
      return { id, seeds: ofFault, isPlayed: ofFault.some((seed) => played.has(seed)) };
    });
    expect(listed).toEqual(
      faults.map(({ id, seeds: own }) => ({ id, seeds: own, isPlayed: true })),
    );
  });
});
