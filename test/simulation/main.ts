// `npm run simulate -- --minutes N [--seed S]`: plays episodes of the simulation; ends with 1 where one
// finds something. `--episodes N` plays so many; `--chain bitcoin` plays only seeds of that chain of the
// catalogue; `--trace <file>` writes down all that happens. They are played on every core, unless
// `--processes N` says by how many; a trace is of one. `--seeds 17,4711` plays these seeds alone.
// `--keep-going` goes on after a finding, and `--verbose` prints a line for each episode.
import { type ChildProcess, fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { openBenchPostgres } from "../bench/bench-postgres.ts";
import { chainsPlayed } from "./episode/ways.ts";
import { type Simulation, seedsFrom, simulate, tellFinding } from "./simulate.ts";

/** What one process plays: every so many-th episode of a run, or the seeds that are listed. */
type Part = {
  seed: number;
  stride: number;
  listedSeeds: readonly number[] | undefined;
  episodesMax: number;
  endsAtMs: number;
};

const say = (line: string) => process.stdout.write(`${line}\n`);
const seedsMax = 2 ** 40;
const secondMs = 1_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    episodes: { type: "string" },
    seed: { type: "string" },
    seeds: { type: "string" },
    chain: { type: "string" },
    processes: { type: "string" },
    part: { type: "boolean", default: false },
    trace: { type: "string" },
    "keep-going": { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

if (values.chain !== undefined && !chainsPlayed.includes(values.chain)) {
  throw new RangeError(`--chain is one of ${chainsPlayed.join(", ")}`);
}

const play = (
  { endsAtMs, episodesMax, listedSeeds, seed, stride }: Part,
  isOver: () => boolean,
): Promise<Simulation> => {
  const trace = values.trace === undefined ? undefined : createWriteStream(values.trace);
  let startedAt = process.cpuUsage();
  return simulate({
    seeds: listedSeeds ?? seedsFrom(seed, { chainId: values.chain, stride }),
    isOver,
    keepsGoing: values["keep-going"],
    goesOn: ({ episodes }) => episodes < episodesMax && Date.now() < endsAtMs,
    ...(trace === undefined ? {} : { heard: (line: string) => void trace.write(`${line}\n`) }),
    played: ({ digest, finding, seed: played, steps }) => {
      const { system, user } = process.cpuUsage(startedAt);
      startedAt = process.cpuUsage();
      if (!values.verbose) return;
      const cpuMs = Math.round((system + user) / 1_000);
      const line = `${played}: ${steps} steps, ${cpuMs} ms of CPU in Node, ${digest}`;
      say(finding === undefined ? line : `${line}, found: ${finding.split("\n", 1)[0]}`);
    },
  });
};

const playBeside = (child: ChildProcess): Promise<Simulation> =>
  new Promise((resolve, reject) => {
    child.once("message", (simulation) => resolve(simulation as Simulation));
    child.once("exit", () => reject(new Error("a process of the simulation has ended")));
  });

/** Plays a run in several processes; where one finds something, the others end at once. */
const playBy = async (processCount: number, run: Part): Promise<readonly Simulation[]> => {
  if (processCount === 1) return [await play(run, () => false)];
  const args = [...process.argv.slice(2), "--part"];
  const children = Array.from({ length: processCount }, (_, index) => {
    const child = fork(import.meta.filename, args, { serialization: "advanced" });
    const episodesMax = Math.ceil((run.episodesMax - index) / processCount);
    const listedSeeds = run.listedSeeds?.filter((_, at) => at % processCount === index);
    const part = { seed: run.seed + index, stride: processCount, listedSeeds, episodesMax };
    child.send({ ...run, ...part });
    return child;
  });
  return Promise.all(
    children.map(async (child) => {
      const simulation = await playBeside(child);
      const isOver = simulation.found !== undefined && !values["keep-going"];
      const others = isOver ? children : [];
      for (const other of others) if (other.connected) other.send("over");
      return simulation;
    }),
  );
};

const playPart = async (): Promise<void> => {
  const [part] = (await once(process, "message")) as [Part];
  let isOver = false;
  process.on("message", () => {
    isOver = true;
  });
  process.once("disconnect", () => process.exit());
  const simulation = await play(part, () => isOver);
  process.send?.(simulation, () => process.exit());
};

const lead = async (): Promise<void> => {
  const listedSeeds = values.seeds?.split(",").map(Number);
  const episodesMax = Number(values.episodes ?? listedSeeds?.length ?? Infinity);
  const minutes = Number(values.minutes ?? (episodesMax === Infinity ? 1 : Infinity));
  const seed = Number(values.seed ?? randomInt(seedsMax));
  const processes =
    values.trace === undefined ? Number(values.processes ?? availableParallelism()) : 1;
  // Autovacuum would lock a table for a moment, whenever it likes, and no episode could be played again.
  const settings = { max_connections: "500", fsync: "off", autovacuum: "off" };
  const postgres = await openBenchPostgres(settings);
  const startedAtMs = Date.now();
  if (listedSeeds === undefined) say(`the first seed is ${seed}`);
  const endsAtMs = startedAtMs + minutes * 60 * secondMs;
  const run = { seed, stride: 1, listedSeeds, episodesMax, endsAtMs };
  const simulations = await playBy(Math.min(processes, episodesMax), run);
  const counts = new Map<string, number>();
  for (const each of simulations) {
    for (const [what, count] of each.counts) counts.set(what, (counts.get(what) ?? 0) + count);
  }
  for (const what of [...counts.keys()].sort()) say(`  ${what}: ${counts.get(what) ?? 0}`);
  const found = simulations.map((each) => each.found).find((one) => one !== undefined);
  if (found !== undefined) say(tellFinding(found));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const episodes = sum(simulations.map((each) => each.episodes));
  const steps = sum(simulations.map((each) => each.steps));
  const seconds = Math.round((Date.now() - startedAtMs) / secondMs);
  const findings = found === undefined ? "nothing found" : "something found";
  say(`${episodes} episodes, ${steps} steps, ${seconds} s: ${findings}`);
  await postgres.close();
  process.exit(found === undefined ? 0 : 1);
};

await (values.part ? playPart() : lead());
