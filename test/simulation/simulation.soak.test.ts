import { randomInt } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { listMissingKinds } from "./kinds.ts";
import { soakSeeds } from "./seeds.ts";
import { seedsFrom, simulate, tellFinding } from "./simulate.ts";

const seedsMax = 2 ** 40;
/** Fewer episodes could lack a kind of trouble by chance. */
const episodesMin = 100;
const testMsMax = 60 * 60_000;

describe("the simulation, for longer", () => {
  test(
    "finds nothing with further fixed seeds",
    async () => {
      const { digests, found } = await simulate({ seeds: soakSeeds.map(({ seed }) => seed) });
      if (found !== undefined) throw new Error(tellFinding(found));
      expect(digests).toHaveLength(soakSeeds.length);
    },
    testMsMax,
  );

  test(
    `finds nothing in ${episodesMin} episodes of new seeds, which play every kind of trouble`,
    async () => {
      const firstSeed = randomInt(seedsMax);
      process.stderr.write(`the first seed is ${firstSeed}\n`);
      const { counts, found } = await simulate({
        seeds: seedsFrom(firstSeed),
        goesOn: ({ episodes }) => episodes < episodesMin,
      });
      if (found !== undefined) throw new Error(tellFinding(found));
      expect(listMissingKinds(counts)).toEqual([]);
    },
    testMsMax,
  );
});
