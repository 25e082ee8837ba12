import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { startBenchServers } from "../bench/bench-servers.ts";
import { type OnEnd, print, runToEnd } from "../bench/harness.ts";
import { profileCapacity } from "./capacity.ts";
import { profileCost } from "./cost.ts";
import { readCpuShares } from "./cpu-shares.ts";
import { profileLatency } from "./latency.ts";
import { statementSettings } from "./statements.ts";

const settings = z
  .object({
    RATE: z.coerce.number().int().min(1).max(1_000).default(50),
    PAYMENTS: z.coerce.number().int().min(1).max(100_000).default(1_000),
    REPLICAS: z.coerce.number().int().min(1).max(4).default(1),
    RATES: z
      .string()
      .default("10,50,100,150")
      .transform((text) => text.split(",").map(Number)),
    SECONDS: z.coerce.number().int().min(1).max(600).default(60),
    OUT: z.string().default("profiles"),
  })
  .parse(process.env);

/** Smaller shares of the CPU time are not printed. */
const percentMin = 1;

/** Prints the packages in which each process spent its time, and the path of its flame graph. */
const printProfiles = async (files: readonly string[]): Promise<void> => {
  for (const path of files) {
    const { busyMs, process, packages } = await readCpuShares(path);
    print(`${process} used ${busyMs} ms of CPU; percentage in each package's own code:`);
    for (const { percent, packageName } of packages.filter(
      ({ percent }) => percent >= percentMin,
    )) {
      print(`${percent.toFixed(1).padStart(8)}  ${packageName}`);
    }
    print(path);
  }
};

const runLatency = async (onEnd: OnEnd) => {
  const directory = resolve(settings.OUT);
  await mkdir(directory, { recursive: true });
  const { files, followedCount, stages, perPayment } = await profileLatency(onEnd, {
    perSecond: settings.RATE,
    paymentCount: settings.PAYMENTS,
    replicasPerService: settings.REPLICAS,
    directory,
  });
  const widthMax = Math.max(...stages.map(({ stage }) => stage.length));
  const printRow = (stage: string, cells: readonly (string | number)[]) =>
    print(`${stage.padEnd(widthMax)}${cells.map((cell) => String(cell).padStart(11)).join("")}`);
  printRow("milliseconds", ["step p50", "step p99", "since p50", "since p99"]);
  for (const { stage, stepP50, stepP99, sinceP50, sinceP99 } of stages) {
    printRow(stage, [stepP50, stepP99, sinceP50, sinceP99]);
  }
  await printProfiles(files);
  return { followed: followedCount, perPayment };
};

const runCost = async (onEnd: OnEnd) => ({
  costs: await profileCost(onEnd, {
    rates: settings.RATES,
    secondsPerRate: settings.SECONDS,
    replicasPerService: settings.REPLICAS,
  }),
});

const runCapacity = async (onEnd: OnEnd) => ({
  steps: await profileCapacity(onEnd, { count: settings.PAYMENTS }),
});

const profiles = { capacity: runCapacity, cost: runCost, latency: runLatency };
const name = process.argv[2] ?? "";
if (!Object.hasOwn(profiles, name)) {
  process.stderr.write(
    `usage: [RATE=50] [PAYMENTS=1000] [REPLICAS=1] [SECONDS=60] [RATES=10,50,100,150] npm run --silent profile -- ${Object.keys(profiles).join(" | ")}\n`,
  );
  process.exit(2);
}
const result = await runToEnd(async (onEnd) => {
  const servers = await startBenchServers(statementSettings);
  onEnd(servers.close);
  return profiles[name as keyof typeof profiles](onEnd);
});
print(JSON.stringify({ profile: name, ...result }));
