// `npm run simulate -- --minutes N [--seed S]` runs episodes of the simulation. Exits with 1 if one
// finds a violation.
//
// - `--episodes N` runs at most N episodes.
// - `--chain bitcoin` runs only seeds of that chain of the catalogue.
// - `--trace <file>` writes a trace of all events. Implies one process.
// - `--processes N` sets the number of processes. The default is one per core.
// - `--seeds 17,4711` runs only these seeds.
// - `--keep-going` continues after a finding.
// - `--verbose` prints a line for each episode.
import { type ChildProcess, fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { startBenchPostgres } from "../bench/bench-postgres.ts";
import { simulatedChainIds } from "./episode/chain-watch-config.ts";
import { type SimulationResult, seedsFrom, simulate, formatFinding } from "./simulate.ts";

/** The part of a run that one process handles: every `stride`-th episode, or the listed seeds. */
type Part = {
  seed: number;
  stride: number;
  listedSeeds: readonly number[] | undefined;
  episodesMax: number;
  endsAtMs: number;
};

const printLine = (line: string) => process.stdout.write(`${line}\n`);
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

if (values.chain !== undefined && !simulatedChainIds.includes(values.chain)) {
  throw new RangeError(`--chain must be one of ${simulatedChainIds.join(", ")}`);
}

const runPart = (
  { endsAtMs, episodesMax, listedSeeds, seed, stride }: Part,
  shouldStop: () => boolean,
): Promise<SimulationResult> => {
  const traceStream = values.trace === undefined ? undefined : createWriteStream(values.trace);
  let cpuUsageAtStart = process.cpuUsage();
  return simulate({
    seeds: listedSeeds ?? seedsFrom(seed, { chainId: values.chain, stride }),
    shouldStop,
    continuesAfterFinding: values["keep-going"],
    shouldContinue: ({ episodes }) => episodes < episodesMax && Date.now() < endsAtMs,
    ...(traceStream === undefined
      ? {}
      : { onTraceLine: (line: string) => void traceStream.write(`${line}\n`) }),
    onEpisodeEnd: ({ digest, finding, seed: finishedSeed, steps }) => {
      const { system, user } = process.cpuUsage(cpuUsageAtStart);
      cpuUsageAtStart = process.cpuUsage();
      if (!values.verbose) return;
      const cpuMs = Math.round((system + user) / 1_000);
      const line = `${finishedSeed}: ${steps} steps, ${cpuMs} ms of CPU in Node, ${digest}`;
      printLine(finding === undefined ? line : `${line}, found: ${finding.split("\n", 1)[0]}`);
    },
  });
};

const waitForChild = (child: ChildProcess): Promise<SimulationResult> =>
  new Promise((resolve, reject) => {
    child.once("message", (result) => resolve(result as SimulationResult));
    child.once("exit", () => reject(new Error("a process of the simulation exited early")));
  });

/**
 * Splits a run over several processes. When one of them finds a violation, the others stop
 * immediately.
 */
const runInProcesses = async (
  processCount: number,
  fullRun: Part,
): Promise<readonly SimulationResult[]> => {
  if (processCount === 1) return [await runPart(fullRun, () => false)];
  const args = [...process.argv.slice(2), "--part"];
  const children = Array.from({ length: processCount }, (_, index) => {
    const child = fork(import.meta.filename, args, { serialization: "advanced" });
    const episodesMax = Math.ceil((fullRun.episodesMax - index) / processCount);
    const listedSeeds = fullRun.listedSeeds?.filter(
      (_, seedIndex) => seedIndex % processCount === index,
    );
    const part = { seed: fullRun.seed + index, stride: processCount, listedSeeds, episodesMax };
    child.send({ ...fullRun, ...part });
    return child;
  });
  return Promise.all(
    children.map(async (child) => {
      const result = await waitForChild(child);
      const shouldStop = result.failedEpisode !== undefined && !values["keep-going"];
      const childrenToStop = shouldStop ? children : [];
      for (const childToStop of childrenToStop) if (childToStop.connected) childToStop.send("over");
      return result;
    }),
  );
};

const runPartAsChild = async (): Promise<void> => {
  const [part] = (await once(process, "message")) as [Part];
  let shouldStop = false;
  process.on("message", () => {
    shouldStop = true;
  });
  process.once("disconnect", () => process.exit());
  const result = await runPart(part, () => shouldStop);
  process.send?.(result, () => process.exit());
};

const runAndReport = async (): Promise<void> => {
  const listedSeeds = values.seeds?.split(",").map(Number);
  const episodesMax = Number(values.episodes ?? listedSeeds?.length ?? Infinity);
  const minutes = Number(values.minutes ?? (episodesMax === Infinity ? 1 : Infinity));
  const seed = Number(values.seed ?? randomInt(seedsMax));
  const processes =
    values.trace === undefined ? Number(values.processes ?? availableParallelism()) : 1;
  // Autovacuum takes short table locks at unpredictable times. Episodes could then not be replayed.
  const settings = { max_connections: "500", fsync: "off", autovacuum: "off" };
  const postgres = await startBenchPostgres(settings);
  const startedAtMs = Date.now();
  if (listedSeeds === undefined) printLine(`the first seed is ${seed}`);
  const endsAtMs = startedAtMs + minutes * 60 * secondMs;
  const fullRun = { seed, stride: 1, listedSeeds, episodesMax, endsAtMs };
  const results = await runInProcesses(Math.min(processes, episodesMax), fullRun);
  const counts = new Map<string, number>();
  for (const result of results) {
    for (const [event, count] of result.counts) counts.set(event, (counts.get(event) ?? 0) + count);
  }
  for (const event of [...counts.keys()].sort()) printLine(`  ${event}: ${counts.get(event) ?? 0}`);
  const failedEpisode = results
    .map((result) => result.failedEpisode)
    .find((candidate) => candidate !== undefined);
  if (failedEpisode !== undefined) printLine(formatFinding(failedEpisode));
  const sumNumbers = (numbers: readonly number[]) =>
    numbers.reduce((total, value) => total + value, 0);
  const episodes = sumNumbers(results.map((result) => result.episodes));
  const steps = sumNumbers(results.map((result) => result.steps));
  const seconds = Math.round((Date.now() - startedAtMs) / secondMs);
  const findings = failedEpisode === undefined ? "nothing found" : "something found";
  printLine(`${episodes} episodes, ${steps} steps, ${seconds} s: ${findings}`);
  await postgres.close();
  process.exit(failedEpisode === undefined ? 0 : 1);
};

await (values.part ? runPartAsChild() : runAndReport());
