import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type AccountCall, accountCalls, createAccountClient } from "./account-calls.ts";
import { printProgress } from "./bench-postgres.ts";
import { startBenchServers } from "./bench-servers.ts";
import { drawGrowth } from "./growth-picture.ts";
import { median } from "./load.ts";
import { createShop } from "./create-shop.ts";
import type { BenchResult } from "./rounds.ts";

/** The number of links in each compared system. Each link has a payment and a webhook. */
const counts = (process.env["SIZES"] ?? "10000,100000,1000000").split(",").map(Number);
const roundCount = Number(process.env["ROUNDS"] ?? 5);
const timesPerRound = 20;
const warmUpTimes = 40;
const idleSeconds = 15;

/**
 * The cost of an operation: the milliseconds that its caller waits, and the work that Postgres
 * does.
 */
type OperationCost = { ms: number; statements: number; buffers: number; walBytes: number };
type FilledSystem = Awaited<ReturnType<typeof createFilledSystem>>;

/**
 * Measures the cost of each public call, each step of a payment and an idle second. Compares
 * systems with 10,000, 100,000 and 1 million links (`SIZES`). Each link has a payment and a
 * webhook. The systems run in parallel on one Postgres and are called in turns. `ours` and `floor`
 * are the milliseconds of the operation that grows most, with the most and the fewest links.
 * `ratio` should stay under 1.5. `PICTURE` is the path of a chart to write.
 */
export const benchGrowth = async (): Promise<BenchResult> => {
  const servers = await startBenchServers({
    shared_preload_libraries: "pg_stat_statements",
    max_connections: "400",
  });
  const systems: FilledSystem[] = [];
  try {
    for (const count of counts) systems.push(await createFilledSystem(count));
    const idleCosts = await measureIdleCosts(systems);
    const lines: { name: string; costs: OperationCost[] }[] = [];
    for (const operation of accountCalls) {
      lines.push({
        name: operation.name,
        costs: await measureOperation(operation, systems, idleCosts),
      });
    }
    lines.push({ name: "one idle second", costs: idleCosts });
    process.stdout.write(renderTable(lines));
    await drawPicture(lines);
    return summarize(lines);
  } finally {
    for (const system of systems) await system.close();
    await servers.close();
  }
};

/** Starts the four services on a database with that many links. */
const createFilledSystem = async (count: number) => {
  const shop = await createShop({ replicasPerService: 1 });
  const admin = new Client({ connectionString: shop.system.adminUrl });
  await admin.connect();
  await admin.query("CREATE EXTENSION pg_stat_statements");
  const account = createAccountClient(shop, shop);
  printProgress(`filling ${count.toLocaleString("en")}`);
  await account.multiplyLinks(admin, count);
  return {
    ...account,
    admin,
    close: async (): Promise<void> => {
      await admin.end();
      await shop.close();
    },
  };
};

/** Measures the cost of one second without any calls, when only polls, jobs and leases run. */
const measureIdleCosts = async (systems: readonly FilledSystem[]): Promise<OperationCost[]> => {
  const costs: OperationCost[] = [];
  for (const { admin } of systems) {
    // Waits until Postgres has finished the work that filling the database caused.
    await sleep(1_000);
    await resetStatements(admin);
    await sleep(idleSeconds * 1_000);
    costs.push(
      divideCost({ ms: 1_000 * idleSeconds, ...(await readStatements(admin)) }, idleSeconds),
    );
  }
  return costs;
};

/**
 * Calls the systems in turns for several rounds. Returns the median cost of each system without the
 * idle cost.
 */
const measureOperation = async (
  { prepare, run }: AccountCall,
  systems: readonly FilledSystem[],
  idleCosts: readonly OperationCost[],
): Promise<OperationCost[]> => {
  const costsBySystem = systems.map((): OperationCost[] => []);
  const runOnce = async (system: FilledSystem, callCount: number): Promise<number[]> => {
    const durations: number[] = [];
    for (let index = 0; index < callCount; index += 1) {
      const startedAt = performance.now();
      await run(system);
      durations.push(performance.now() - startedAt);
    }
    return durations;
  };
  for (const system of systems) {
    for (let warmedCount = 0; warmedCount < warmUpTimes; warmedCount += timesPerRound) {
      await prepare?.(system, timesPerRound);
      await runOnce(system, timesPerRound);
    }
  }
  for (let round = 0; round < roundCount; round += 1) {
    const order = [...systems.keys()];
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const [system, idleCost] = [systems[index], idleCosts[index]];
      if (system === undefined || idleCost === undefined) throw new Error("unknown system");
      await prepare?.(system, timesPerRound);
      await resetStatements(system.admin);
      const durations = await runOnce(system, timesPerRound);
      const seconds = durations.reduce((sum, ms) => sum + ms, 0) / 1_000;
      const totals = await readStatements(system.admin);
      const operationTotals = {
        statements: Math.max(0, totals.statements - idleCost.statements * seconds),
        buffers: Math.max(0, totals.buffers - idleCost.buffers * seconds),
        walBytes: Math.max(0, totals.walBytes - idleCost.walBytes * seconds),
      };
      costsBySystem[index]?.push({
        ...divideCost({ ms: 0, ...operationTotals }, timesPerRound),
        ms: median(durations),
      });
    }
  }
  return costsBySystem.map((costs) => ({
    ms: median(costs.map(({ ms }) => ms)),
    statements: median(costs.map(({ statements }) => statements)),
    buffers: median(costs.map(({ buffers }) => buffers)),
    walBytes: median(costs.map(({ walBytes }) => walBytes)),
  }));
};

const divideCost = (cost: OperationCost, divisor: number): OperationCost => ({
  ms: cost.ms / divisor,
  statements: cost.statements / divisor,
  buffers: cost.buffers / divisor,
  walBytes: cost.walBytes / divisor,
});

const ofThisDatabase = "SELECT oid FROM pg_database WHERE datname = current_database()";

const resetStatements = (admin: Client) =>
  admin.query(`SELECT pg_stat_statements_reset(0, (${ofThisDatabase}), 0)`);

/**
 * Returns the work of the services' statements since the last reset. Excludes this bench's own
 * statements.
 */
const readStatements = async (admin: Client): Promise<Omit<OperationCost, "ms">> => {
  const { rows } = await admin.query<Omit<OperationCost, "ms">>(
    `SELECT coalesce(sum(calls), 0)::float8 AS statements,
       coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS buffers,
       coalesce(sum(wal_bytes), 0)::float8 AS "walBytes"
     FROM pg_stat_statements
     WHERE dbid = (${ofThisDatabase}) AND userid <> current_user::regrole AND toplevel`,
  );
  const [totals] = rows;
  if (totals === undefined) throw new Error("pg_stat_statements returned no row");
  return totals;
};

type Line = { name: string; costs: readonly OperationCost[] };

/** Renders a Markdown table of each operation's cost for each number of links. */
const renderTable = (lines: readonly Line[]): string => {
  const heads = counts.map((count) => count.toLocaleString("en"));
  const renderRow = ({ name, costs }: Line): string =>
    [
      name,
      costs.map(({ ms }) => ms.toFixed(1)).join(" · "),
      costs.map(({ statements }) => statements.toFixed(1)).join(" · "),
      costs.map(({ buffers }) => buffers.toFixed(0)).join(" · "),
      costs.map(({ walBytes }) => walBytes.toFixed(0)).join(" · "),
    ].join(" | ");
  return [
    `with ${heads.join(" · ")} links:`,
    "| Operation | ms | Statements | Buffers | WAL bytes |",
    "| --- | --- | --- | --- | --- |",
    ...lines.map((line) => `| ${renderRow(line)} |`),
    "",
  ].join("\n");
};

const drawPicture = async (lines: readonly Line[]): Promise<void> => {
  const file = process.env["PICTURE"];
  if (file === undefined) return;
  const timedLines = lines
    .slice(0, -1)
    .map(({ name, costs }) => ({ name, values: costs.map(({ ms }) => ms) }));
  await writeFile(file, drawGrowth("Milliseconds, by links and payments", counts, timedLines));
};

const summarize = (lines: readonly Line[]): BenchResult => {
  const results = lines.slice(0, -1).map(({ name, costs }) => {
    const [first, last] = [costs[0], costs.at(-1)];
    if (first === undefined || last === undefined) throw new Error("nothing was measured");
    return {
      operation: name,
      ours: Number(last.ms.toFixed(2)),
      floor: Number(first.ms.toFixed(2)),
      ratio: Number((last.ms / first.ms).toFixed(2)),
      buffersRatio: Number((last.buffers / first.buffers).toFixed(2)),
      walRatio: Number((last.walBytes / first.walBytes).toFixed(2)),
    };
  });
  const worst = results.toSorted((first, second) => second.ratio - first.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};
