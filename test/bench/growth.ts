import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type AccountCall, accountCalls, openAccount } from "./account-calls.ts";
import { say } from "./bench-postgres.ts";
import { openBenchServers } from "./bench-servers.ts";
import { drawGrowth } from "./growth-picture.ts";
import { median } from "./load.ts";
import { openShop } from "./open-shop.ts";
import type { Verdict } from "./rounds.ts";

/** How many links, each with its payment and its webhook, the systems have that are compared. */
const counts = (process.env["SIZES"] ?? "10000,100000,1000000").split(",").map(Number);
const roundCount = Number(process.env["ROUNDS"] ?? 5);
const timesPerRound = 20;
const warmUpTimes = 40;
const restSeconds = 15;

/** What an operation cost: milliseconds as its caller sees it, and what Postgres did for it. */
type Cost = { ms: number; statements: number; buffers: number; walBytes: number };
type Grown = Awaited<ReturnType<typeof openGrown>>;

/**
 * What each public call, each step of a payment and a second of rest cost with 10,000 links, with 100,000
 * and with a million (`SIZES`), each with its payment and its webhook: systems side by side on one
 * Postgres, asked by turns. `ours` and `floor` are the milliseconds of the operation that grows most, with
 * the most and the fewest links; `ratio` should stay under 1.5. `PICTURE` names a file for a picture.
 */
export const benchGrowth = async (): Promise<Verdict> => {
  const servers = await openBenchServers({
    shared_preload_libraries: "pg_stat_statements",
    max_connections: "400",
  });
  const opened: Grown[] = [];
  try {
    for (const count of counts) opened.push(await openGrown(count));
    const rests = await measureRests(opened);
    const lines: { name: string; costs: Cost[] }[] = [];
    for (const operation of accountCalls) {
      lines.push({ name: operation.name, costs: await measure(operation, opened, rests) });
    }
    lines.push({ name: "a second of rest", costs: rests });
    process.stdout.write(tableOf(lines));
    await draw(lines);
    return verdictOf(lines);
  } finally {
    for (const grown of opened) await grown.close();
    await servers.close();
  }
};

/** Four services over a database with so many links. */
const openGrown = async (count: number) => {
  const shop = await openShop({ replicasPerService: 1 });
  const admin = new Client({ connectionString: shop.system.adminUrl });
  await admin.connect();
  await admin.query("CREATE EXTENSION pg_stat_statements");
  const account = openAccount(shop, shop);
  say(`filling ${count.toLocaleString("en")}`);
  await account.grow(admin, count);
  return {
    ...account,
    admin,
    close: async (): Promise<void> => {
      await admin.end();
      await shop.close();
    },
  };
};

/** What a second costs in which nobody asks for anything: polls, jobs and leases. */
const measureRests = async (opened: readonly Grown[]): Promise<Cost[]> => {
  const costs: Cost[] = [];
  for (const { admin } of opened) {
    // What filling set off is over by then.
    await sleep(1_000);
    await reset(admin);
    await sleep(restSeconds * 1_000);
    costs.push(share({ ms: 1_000 * restSeconds, ...(await readStatements(admin)) }, restSeconds));
  }
  return costs;
};

/** The medians of rounds in which the systems are asked by turns, without what rest costs meanwhile. */
const measure = async (
  { prepare, run }: AccountCall,
  opened: readonly Grown[],
  rests: readonly Cost[],
): Promise<Cost[]> => {
  const found = opened.map((): Cost[] => []);
  const once = async (grown: Grown, times: number): Promise<number[]> => {
    const durations: number[] = [];
    for (let index = 0; index < times; index += 1) {
      const startedAt = performance.now();
      await run(grown);
      durations.push(performance.now() - startedAt);
    }
    return durations;
  };
  for (const grown of opened) {
    for (let warmed = 0; warmed < warmUpTimes; warmed += timesPerRound) {
      await prepare?.(grown, timesPerRound);
      await once(grown, timesPerRound);
    }
  }
  for (let round = 0; round < roundCount; round += 1) {
    const order = [...opened.keys()];
    for (const at of round % 2 === 0 ? order : order.toReversed()) {
      const [grown, rest] = [opened[at], rests[at]];
      if (grown === undefined || rest === undefined) throw new Error("there is no such system");
      await prepare?.(grown, timesPerRound);
      await reset(grown.admin);
      const durations = await once(grown, timesPerRound);
      const seconds = durations.reduce((sum, ms) => sum + ms, 0) / 1_000;
      const all = await readStatements(grown.admin);
      const own = {
        statements: Math.max(0, all.statements - rest.statements * seconds),
        buffers: Math.max(0, all.buffers - rest.buffers * seconds),
        walBytes: Math.max(0, all.walBytes - rest.walBytes * seconds),
      };
      found[at]?.push({ ...share({ ms: 0, ...own }, timesPerRound), ms: median(durations) });
    }
  }
  return found.map((costs) => ({
    ms: median(costs.map(({ ms }) => ms)),
    statements: median(costs.map(({ statements }) => statements)),
    buffers: median(costs.map(({ buffers }) => buffers)),
    walBytes: median(costs.map(({ walBytes }) => walBytes)),
  }));
};

const share = (cost: Cost, by: number): Cost => ({
  ms: cost.ms / by,
  statements: cost.statements / by,
  buffers: cost.buffers / by,
  walBytes: cost.walBytes / by,
});

const ofThisDatabase = "SELECT oid FROM pg_database WHERE datname = current_database()";

const reset = (admin: Client) =>
  admin.query(`SELECT pg_stat_statements_reset(0, (${ofThisDatabase}), 0)`);

/** What the services' statements did since the last reset; what this bench asks does not count. */
const readStatements = async (admin: Client): Promise<Omit<Cost, "ms">> => {
  const { rows } = await admin.query<Omit<Cost, "ms">>(
    `SELECT coalesce(sum(calls), 0)::float8 AS statements,
       coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS buffers,
       coalesce(sum(wal_bytes), 0)::float8 AS "walBytes"
     FROM pg_stat_statements
     WHERE dbid = (${ofThisDatabase}) AND userid <> current_user::regrole AND toplevel`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error("there are no statistics");
  return found;
};

type Line = { name: string; costs: readonly Cost[] };

/** A table for people: each operation's cost with each number of links. */
const tableOf = (lines: readonly Line[]): string => {
  const heads = counts.map((count) => count.toLocaleString("en"));
  const rowOf = ({ name, costs }: Line): string =>
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
    ...lines.map((line) => `| ${rowOf(line)} |`),
    "",
  ].join("\n");
};

const draw = async (lines: readonly Line[]): Promise<void> => {
  const file = process.env["PICTURE"];
  if (file === undefined) return;
  const timed = lines
    .slice(0, -1)
    .map(({ name, costs }) => ({ name, values: costs.map(({ ms }) => ms) }));
  await writeFile(file, drawGrowth("Milliseconds, by links and payments", counts, timed));
};

const verdictOf = (lines: readonly Line[]): Verdict => {
  const verdicts = lines.slice(0, -1).map(({ name, costs }) => {
    const [least, most] = [costs[0], costs.at(-1)];
    if (least === undefined || most === undefined) throw new Error("nothing was measured");
    return {
      operation: name,
      ours: Number(most.ms.toFixed(2)),
      floor: Number(least.ms.toFixed(2)),
      ratio: Number((most.ms / least.ms).toFixed(2)),
      buffersRatio: Number((most.buffers / least.buffers).toFixed(2)),
      walRatio: Number((most.walBytes / least.walBytes).toFixed(2)),
    };
  });
  const worst = verdicts.toSorted((one, other) => other.ratio - one.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};
