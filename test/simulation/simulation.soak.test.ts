import { expect, test } from "@jest/globals";
import { soakSeeds } from "./seeds.ts";
import { simulate, formatFinding } from "./simulate.ts";

const testMsMax = 60 * 60_000;

test(
  "the simulation finds nothing with more fixed seeds",
  async () => {
    const { digests, failedEpisode } = await simulate({ seeds: soakSeeds.map(({ seed }) => seed) });
    if (failedEpisode !== undefined) throw new Error(formatFinding(failedEpisode));
    expect(digests).toHaveLength(soakSeeds.length);
  },
  testMsMax,
);
