import { parseArgs } from "node:util";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { startBenchServers } from "../bench/bench-servers.ts";
import { readAnonymousBytes, watchMemory } from "../rig/resident-memory.ts";
import { type AttackName, attackNames } from "./attack-list.ts";
import { type ChartMemory, readChartMemory } from "./chart-memory.ts";
import type { Counts } from "./counts.ts";
import { startTarget } from "./start-target.ts";
import { type Window, createOtherCallers, operations } from "./other-callers.ts";
import { startAttack } from "./start-attack.ts";

// `npm run --silent attacks -- [SECONDS] [NAME …]` runs each attack for the given number of
// seconds, first from one address and then from 64. Meanwhile, it measures other callers. It prints
// a table. The last line is JSON.

type OtherCallers = Awaited<ReturnType<typeof createOtherCallers>>;

type PeakMemory = Record<ServiceName, number>;

type Ratios = Record<(typeof operations)[number], { p50: number; p99: number }>;

type Row = {
  attack: AttackName;
  addresses: number;
  ratios: Ratios;
  serverErrors: number;
  refused: number;
  retried: number;
  otherCallerResponses: Record<string, number>;
  /** The peak private memory of each service's process, in MiB. */
  peaks: PeakMemory;
  /** Whether the other callers were as fast as in the quiet window when the attack began. */
  startedQuiet: boolean;
  attacker: Counts;
  /** Whether a process of the product exited during the attack. */
  hasEnded: boolean;
  failures: readonly string[];
};

const p99RatioMax = 3;
const memory = readChartMemory();
const services = Object.keys(memory) as readonly ServiceName[];
const createAddresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `127.0.1.${index + 1}`);
const addressCounts = [1, 64];
/** More connections than the product accepts. */
const socketsMax = 2_560;

const printProgress = (text: string): void => void process.stderr.write(`${text}\n`);

const usage = (): never => {
  printProgress(`usage: npm run --silent attacks -- [SECONDS] [${attackNames.join(" | ")}] …`);
  process.exit(2);
};

const readArguments = (): { seconds: number; names: readonly AttackName[] } => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [secondsText = "60", ...requestedNames] = positionals;
  const seconds = Number(secondsText);
  const names = attackNames.filter(
    (name) => requestedNames.length === 0 || requestedNames.includes(name),
  );
  const areKnown = requestedNames.every((name) =>
    attackNames.some((attackName) => attackName === name),
  );
  return seconds > 0 && areKnown ? { seconds, names } : usage();
};

const checkSeconds = 2;
const checksMax = 30;

/**
 * Waits up to about one minute for the other callers to become nearly as fast as in the quiet
 * window. Returns whether they did.
 */
const waitUntilQuiet = async (others: OtherCallers, quiet: Window): Promise<boolean> => {
  for (let checks = 0; checks < checksMax; checks += 1) {
    const currentWindow = await others.measure(checkSeconds);
    const isQuiet = operations.every((name) => currentWindow.p99[name] <= 1.5 * quiet.p99[name]);
    if (isQuiet && Object.keys(currentWindow.errors).length === 0) return true;
  }
  return false;
};

const watchProcesses = (processes: readonly { service: ServiceName; pid: number }[]) => {
  const memoryWatches = processes.map(({ pid, service }) => ({
    service,
    ...watchMemory(pid, readAnonymousBytes),
  }));
  return {
    /** Returns the peak memory of each process, in MiB. */
    stop: (): PeakMemory =>
      Object.fromEntries(
        memoryWatches.map(({ service, stop }) => [service, Math.round(stop() / 1_048_576)]),
      ) as PeakMemory,
  };
};

const hasEnded = (pid: number): boolean => {
  try {
    return Number.isNaN(readAnonymousBytes(pid));
  } catch {
    return true;
  }
};

const round = (value: number): number => Number(value.toFixed(2));

const ratiosOf = (during: Window, quiet: Window): Ratios =>
  Object.fromEntries(
    operations.map((name) => [
      name,
      {
        p50: round(during.p50[name] / quiet.p50[name]),
        p99: round(during.p99[name] / quiet.p99[name]),
      },
    ]),
  ) as Ratios;

const showRatio = ({ p50, p99 }: Ratios[keyof Ratios]): string => `${p50} / ${p99}`;

/**
 * Returns whether the attack had any effect. A run without responses and open sockets does not test
 * the product.
 */
const hasAttacked = ({ responses, heldMax }: Counts): boolean =>
  heldMax > 0 || Object.keys(responses).length > 0;

const judgeRow = (row: Omit<Row, "failures">): Row => {
  const slowOperations = operations.filter((name) => !(row.ratios[name].p99 <= p99RatioMax));
  const failures = [
    ...slowOperations.map((name) => `p99 of ${name}`),
    ...(row.serverErrors > 0 ? ["5xx"] : []),
    ...(row.refused > 0 ? ["failed connections"] : []),
    ...services
      .filter((name) => row.peaks[name] >= memory[name].limitMib)
      .map((name) => `memory of ${name}`),
    ...(row.hasEnded ? ["a service exited"] : []),
    ...(hasAttacked(row.attacker) ? [] : ["the attack had no effect"]),
  ];
  return { ...row, failures };
};

const formatCounts = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} × ${name}`)
    .join(", ");

const describeAttacker = ({ responses, bytesRead, closed, errors, heldMax }: Counts): string =>
  [
    formatCounts(responses),
    formatCounts(errors),
    heldMax === 0 ? "" : `${heldMax} sockets held, ${closed} closed`,
    `${(bytesRead / 1_048_576).toFixed(1)} MiB read`,
  ]
    .filter((text) => text !== "")
    .join("; ");

const describeMemory = (idleMib: number, { heapMib, limitMib }: ChartMemory): string =>
  `${idleMib}, ${limitMib}, ${heapMib} MiB`;

const renderTable = (rows: readonly Row[]): string => {
  const headings = [
    "attack",
    "addresses",
    ...operations.map((name) => `${name}, p50 / p99`),
    "5xx",
    "failed connections",
    "retried",
    `peak MiB of ${services.join(", ")}`,
    "attacker received",
    "result",
  ];
  const lines = rows.map((row) => [
    row.attack,
    row.addresses,
    ...operations.map((name) => showRatio(row.ratios[name])),
    row.serverErrors,
    row.refused,
    row.retried,
    services.map((name) => row.peaks[name]).join(", "),
    describeAttacker(row.attacker),
    (row.failures.length === 0 ? "pass" : `**fail**: ${row.failures.join(", ")}`) +
      (row.startedQuiet ? "" : " (the other callers were slow before it started)"),
  ]);
  return [headings, headings.map(() => "---"), ...lines]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
};

const { names, seconds } = readArguments();
/** In a full run, the account is large enough for exports that take seconds and for deep pages. */
const size = {
  linkCount: Math.min(12_000, Math.ceil(200 * seconds)),
  auditCount: Math.min(12_000, Math.ceil(200 * seconds)),
};
const servers = await startBenchServers();
printProgress(
  `filling an account with ${size.linkCount} links and ${size.auditCount} audit entries`,
);
const product = await startTarget(size).catch(async (error: unknown) => {
  await servers.close();
  throw error;
});
try {
  const others = await createOtherCallers(product.target.ports, product.otherMerchants);
  await others.measure(Math.min(seconds, 10));
  const idleWatch = watchProcesses(product.processes);
  const windows = [await others.measure(seconds), await others.measure(seconds)] as const;
  const idlePeaks = idleWatch.stop();
  // Something else may have run in one of the windows. A slow baseline would hide slow responses.
  const [quiet, slower] = windows.toSorted((a, b) => a.p99.create - b.p99.create) as [
    Window,
    Window,
  ];
  // The measurement noise: the ratio between two windows without an attack.
  const noise = ratiosOf(slower, quiet);
  printProgress(
    `quiet: ${JSON.stringify({ p50: quiet.p50, p99: quiet.p99, noise, rest: idlePeaks })}`,
  );
  const rows: Row[] = [];
  attacking: for (const attack of names) {
    for (const addressCount of addressCounts) {
      const startedQuiet = await waitUntilQuiet(others, quiet);
      const memoryWatch = watchProcesses(product.processes);
      const attackRun = startAttack(attack, {
        ...product.target,
        addresses: createAddresses(addressCount),
        socketsMax,
      });
      const attackWindow = await others.measure(seconds);
      const attacker = await attackRun.stop();
      const peaks = memoryWatch.stop();
      const ratios = ratiosOf(attackWindow, quiet);
      const { retried, serverErrors } = attackWindow;
      const refused = Object.values(attackWindow.errors).reduce((sum, count) => sum + count, 0);
      const otherCallerResult = {
        otherCallerResponses: attackWindow.responses,
        refused,
        retried,
        serverErrors,
      };
      const processState = { hasEnded: product.processes.some(({ pid }) => hasEnded(pid)) };
      const measurement = {
        ratios,
        ...otherCallerResult,
        peaks,
        startedQuiet,
        attacker,
        ...processState,
      };
      const row = judgeRow({ attack, addresses: addressCount, ...measurement });
      rows.push(row);
      printProgress(renderTable([row]).split("\n")[2] ?? "");
      // The services are not restarted, so measuring further attacks would be pointless.
      if (row.hasEnded) {
        printProgress(`a service exited:\n${product.output().slice(-4_000)}`);
        break attacking;
      }
    }
  }
  others.close();
  process.stdout.write(
    `p99 without an attack: ${operations.map((name) => `${name} ${quiet.p99[name].toFixed(1)} ms`).join(", ")}. ` +
      `The slower window without an attack, ratio of p50 / p99: ${operations.map((name) => `${name} ${showRatio(noise[name])}`).join(", ")}. ` +
      `Idle memory, limit and heap limit: ${services.map((name) => `${name} ${describeMemory(idlePeaks[name], memory[name])}`).join("; ")}.\n\n${renderTable(rows)}\n`,
  );
  const failedCount = rows.filter(({ failures }) => failures.length > 0).length;
  const result = { seconds, quiet, noise, rest: idlePeaks, memory, failed: failedCount, rows };
  process.stdout.write(`${JSON.stringify({ attacks: result })}\n`);
  process.exitCode = failedCount === 0 ? 0 : 1;
} finally {
  await product.close();
  await servers.close();
}
