import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { startBenchServers } from "../bench/bench-servers.ts";
import { profileCapacity } from "./capacity.ts";
import { profileCost } from "./cost.ts";
import { readCpuShares } from "./cpu-shares.ts";
import { profileCreate } from "./create.ts";
import { profileDispatch } from "./dispatch.ts";
import { profileLatency } from "./latency.ts";
import { type Statement, profileIdle } from "./idle.ts";
import { profileWatch } from "./watch.ts";

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
    DELIVERIES: z.coerce.number().int().min(1_000).max(1_000_000).default(20_000),
    ENDPOINTS: z.coerce.number().int().min(1).max(5).default(1),
    OUT: z.string().default("profiles"),
  })
  .parse(process.env);

const print = (line: string) => process.stdout.write(`${line}\n`);

const createDirectory = async (): Promise<string> => {
  const directory = resolve(settings.OUT);
  await mkdir(directory, { recursive: true });
  return directory;
};

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

const printLatency = async (): Promise<void> => {
  const directory = await createDirectory();
  const { files, followedCount, stages, ...cost } = await profileLatency({
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
  print(JSON.stringify({ profile: "latency", followed: followedCount, ...cost }));
};

/** Prints the CPU profiles and then the rate of a profile that runs at the maximum rate. */
const printAtRate = async (
  profile: string,
  { files, ...rate }: { files: readonly string[] } & Record<string, unknown>,
): Promise<void> => {
  await printProfiles(files);
  print(JSON.stringify({ profile, ...rate }));
};

const printCreate = async (): Promise<void> => {
  const directory = await createDirectory();
  const { REPLICAS: replicasPerService, SECONDS: seconds } = settings;
  await printAtRate("create", await profileCreate({ replicasPerService, seconds, directory }));
};

const printDispatch = async (): Promise<void> => {
  const directory = await createDirectory();
  const { DELIVERIES: deliveryCount, ENDPOINTS: endpointCount } = settings;
  await printAtRate("dispatch", await profileDispatch({ deliveryCount, endpointCount, directory }));
};

const printWatch = async (): Promise<void> =>
  printAtRate("watch", await profileWatch(await createDirectory()));

const printIdle = async (): Promise<void> => {
  const { cpuPercent, statements } = await profileIdle({
    replicasPerService: settings.REPLICAS,
    seconds: settings.SECONDS,
  });
  for (const { perSecond, service, text } of statements) {
    print(`${perSecond.toFixed(2).padStart(8)}/s  ${service.padEnd(20)} ${text}`);
  }
  const totalPercent = Object.values(cpuPercent).reduce((sum, percent) => sum + percent, 0);
  print(JSON.stringify({ profile: "rest", cpuPercent, all: Number(totalPercent.toFixed(2)) }));
};

/**
 * Includes slow statements in addition to frequent ones, because a single statement for many
 * payments can read a whole table.
 */
const isWorthPrinting = ({ calls, ms }: Statement): boolean => calls >= 0.02 || ms >= 0.02;

const printCost = async (): Promise<void> => {
  const costs = await profileCost({
    rates: settings.RATES,
    secondsPerRate: settings.SECONDS,
    replicasPerService: settings.REPLICAS,
  });
  const lines = costs.map(({ statementCosts, ...cost }) => {
    print(
      `per payment at ${cost.perSecond} payments/s, for each statement: calls, milliseconds and buffers in Postgres`,
    );
    for (const { buffers, calls, ms, service, text } of statementCosts.filter(isWorthPrinting)) {
      print(
        `${calls.toFixed(2).padStart(7)}${ms.toFixed(2).padStart(7)}${buffers.toFixed(0).padStart(6)}  ${service.padEnd(20)} ${text}`,
      );
    }
    return cost;
  });
  print(JSON.stringify({ profile: "cost", costs: lines }));
};

const printCapacity = async (): Promise<void> => {
  const steps = await profileCapacity({ count: settings.PAYMENTS });
  print(JSON.stringify({ profile: "capacity", steps }));
};

const profiles = {
  capacity: printCapacity,
  cost: printCost,
  create: printCreate,
  dispatch: printDispatch,
  latency: printLatency,
  rest: printIdle,
  watch: printWatch,
};
const name = process.argv[2] ?? "";
if (!Object.hasOwn(profiles, name)) {
  process.stderr.write(
    `usage: [RATE=50] [PAYMENTS=1000] [REPLICAS=1] [SECONDS=60] [RATES=10,50,100,150] [DELIVERIES=20000] [ENDPOINTS=1] npm run --silent profile -- ${Object.keys(profiles).join(" | ")}\n`,
  );
  process.exit(2);
}
const servers = await startBenchServers({ shared_preload_libraries: "pg_stat_statements" });
try {
  await profiles[name as keyof typeof profiles]();
} finally {
  await servers.close();
}
