// `npm run simulate -- --minutes N [--seed S]`: plays episodes of the simulation; ends with 1 where one
// finds something. `--episodes N` plays so many; `--trace <file>` writes down all that happens.
import { randomInt } from "node:crypto";
import { createWriteStream } from "node:fs";
import { parseArgs } from "node:util";
import { openBenchPostgres } from "../bench/bench-postgres.ts";
import { simulate, tellFinding } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    episodes: { type: "string" },
    seed: { type: "string" },
    trace: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const seedsMax = 2 ** 40;
const secondMs = 1_000;

const episodesMax = Number(values.episodes ?? Infinity);
const minutes = Number(values.minutes ?? (values.episodes === undefined ? 1 : Infinity));
const seed = Number(values.seed ?? randomInt(seedsMax));
const trace = values.trace === undefined ? undefined : createWriteStream(values.trace);

const postgres = await openBenchPostgres();
const startedAtMs = performance.now();
const elapsedSeconds = () => Math.round((performance.now() - startedAtMs) / secondMs);
say(`the first seed is ${seed}`);
const { counts, episodes, found, steps } = await simulate({
  seed,
  goesOn: (soFar) => soFar.episodes < episodesMax && elapsedSeconds() < minutes * 60,
  ...(trace === undefined ? {} : { heard: (line: string) => void trace.write(`${line}\n`) }),
  played: (result) => {
    if (values.verbose) say(`${result.seed}: ${result.steps} steps, ${result.digest}`);
  },
});
for (const what of [...counts.keys()].sort()) say(`  ${what}: ${counts.get(what) ?? 0}`);
if (found !== undefined) say(tellFinding(found));
const findings = found === undefined ? "nothing found" : "something found";
say(`${episodes} episodes, ${steps} steps, ${elapsedSeconds()} s: ${findings}`);
await postgres.close();
process.exit(found === undefined ? 0 : 1);
