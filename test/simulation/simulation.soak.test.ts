import { expect, test } from "@jest/globals";
import { soakSeeds } from "./seeds.ts";
import { simulate, tellFinding } from "./simulate.ts";

const testMsMax = 60 * 60_000;

test(
  "the simulation finds nothing with further fixed seeds",
  async () => {
    const { digests, found } = await simulate({ seeds: soakSeeds.map(({ seed }) => seed) });
    if (found !== undefined) throw new Error(tellFinding(found));
    expect(digests).toHaveLength(soakSeeds.length);
  },
  testMsMax,
);
