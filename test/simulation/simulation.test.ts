import { basename, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readFaults } from "../faults/read-faults.ts";
import { listMissingEvents } from "./required-events.ts";
import { type FixedSeed, fixedSeeds, soakSeeds } from "./seeds.ts";
import { simulate, formatFinding } from "./simulate.ts";

const testMsMax = 30 * 60_000;

describe("the simulation", () => {
  test(
    "finds nothing with its fixed seeds, which cover every kind of trouble",
    async () => {
      const { counts, digests, failedEpisode } = await simulate({
        seeds: fixedSeeds.map(({ seed }) => seed),
      });
      if (failedEpisode !== undefined) throw new Error(formatFinding(failedEpisode));
      expect(digests).toHaveLength(fixedSeeds.length);
      expect(listMissingEvents(counts)).toEqual([]);
    },
    testMsMax,
  );

  test(
    "replays a seed exactly",
    async () => {
      const [{ seed } = { seed: 0 }] = fixedSeeds;
      const runSeed = async () => (await simulate({ seeds: [seed] })).digests;
      expect({ seed, digests: await runSeed() }).toEqual({ seed, digests: await runSeed() });
    },
    testMsMax,
  );

  test("lists the seeds of every planted fault, and runs at least one of them", () => {
    const faults = readFaults(join(import.meta.dirname, "../..")).filter((fault) => fault.seeds);
    const playedSeeds = new Set(fixedSeeds.map(({ seed }) => seed));
    const faultCoverage = faults.map(({ id }) => {
      const catchesFault = ({ caughtFaults = [] }: FixedSeed) =>
        caughtFaults.includes(basename(id));
      const seedsOfFault = [...fixedSeeds, ...soakSeeds]
        .filter(catchesFault)
        .map(({ seed }) => seed);
      return {
        id,
        seeds: seedsOfFault,
        isInFixedSeeds: seedsOfFault.some((seed) => playedSeeds.has(seed)),
      };
    });
    expect(faultCoverage).toEqual(
      faults.map(({ id, seeds: expectedSeeds }) => ({
        id,
        seeds: expectedSeeds,
        isInFixedSeeds: true,
      })),
    );
  });
});
