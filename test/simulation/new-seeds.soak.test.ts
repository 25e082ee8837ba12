import { randomInt } from "node:crypto";
import { expect, test } from "@jest/globals";
import { listMissingEvents } from "./required-events.ts";
import { seedsFrom, simulate, formatFinding } from "./simulate.ts";

const seedsMax = 2 ** 40;
/** With fewer episodes, a kind of fault could be missing by chance. */
const episodesMin = 100;
const testMsMax = 120 * 60_000;

test(
  `the simulation finds nothing in ${episodesMin} episodes of new seeds, which cover every kind of trouble`,
  async () => {
    const firstSeed = randomInt(seedsMax);
    process.stderr.write(`the first seed is ${firstSeed}\n`);
    const { counts, failedEpisode } = await simulate({
      seeds: seedsFrom(firstSeed),
      shouldContinue: ({ episodes }) => episodes < episodesMin,
    });
    if (failedEpisode !== undefined) throw new Error(formatFinding(failedEpisode));
    expect(listMissingEvents(counts)).toEqual([]);
  },
  testMsMax,
);
