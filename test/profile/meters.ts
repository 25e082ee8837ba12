import type { Client } from "pg";
import {
  countWakeUps,
  findPostgresPid,
  listChildren,
  readCpuMs,
  readCpuMsOfTree,
} from "../bench/process-cpu.ts";
import type { Shop } from "../bench/payments.ts";

/** The Postgres settings that {@link createMeters} needs to count statements. */
export const meteredSettings = { shared_preload_libraries: "pg_stat_statements" };

/** A number for each program or service. */
type ByProcess = Readonly<Record<string, number>>;

/** The totals since the start. */
type Meters = { cpuMs: ByProcess; wakeUps: ByProcess; commits: number; walBytes: number };

/** How often a service sent a statement, and how long Postgres took to run it. */
export type StatementCost = { service: string; calls: number; ms: number; text: string };

/** The cost of one payment or link, or of one second. */
export type Cost = {
  cpuMs: ByProcess;
  /** How often a thread of the process woke up. For Postgres, without closed connections. */
  wakeUps: ByProcess;
  commits: number;
  walKib: number;
};

/**
 * Reads the CPU time and the wake-ups by program or service, with the sum of a service's replicas,
 * and the work of Postgres. Includes Kafka and Redis if this process started them. `start` begins a
 * measurement, and returns a function that ends the measurement of `count` payments, links or
 * seconds. `listStatements` returns the statements since `start`, with the most frequent first.
 */
export const createMeters = async ({ admin, system }: Pick<Shop, "admin" | "system">) => {
  await admin.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  const postgresPid = await findPostgresPid(admin);
  const servers = listChildren(process.pid).filter(({ name }) => /^(?:java|redis)/.test(name));
  const readProcesses = (readTree: (pid: number) => number, readOne: (pid: number) => number) => {
    const values: Record<string, number> = { postgres: readTree(postgresPid) };
    for (const replica of system.replicas) {
      values[replica.service] = (values[replica.service] ?? 0) + readOne(replica.pid());
    }
    for (const { name, pid } of servers) values[name] = readOne(pid);
    return values;
  };
  const read = async (): Promise<Meters> => {
    const cpuMs = readProcesses(readCpuMsOfTree, readCpuMs);
    const wakeUps = readProcesses(
      (pid) => listChildren(pid).reduce((sum, child) => sum + countWakeUps(child.pid), 0),
      countWakeUps,
    );
    const { rows } = await admin.query<{ commits: number; walBytes: number }>(
      `SELECT (SELECT xact_commit FROM pg_stat_database
          WHERE datname = current_database())::float8 AS commits,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"`,
    );
    const [stats] = rows;
    if (stats === undefined) throw new Error("pg_stat_database returned no row");
    return { cpuMs, wakeUps, ...stats };
  };
  const start = async (): Promise<(count: number) => Promise<Cost>> => {
    await admin.query("SELECT pg_stat_statements_reset()");
    const before = await read();
    return async (count) => {
      const after = await read();
      const toCost = (value: number): number => Number((value / count).toFixed(3));
      const compare = (name: "cpuMs" | "wakeUps"): ByProcess =>
        Object.fromEntries(
          Object.entries(after[name])
            .map(([process, value]) => [process, toCost(value - (before[name][process] ?? 0))])
            .filter(([, value]) => Number(value) > 0),
        );
      return {
        cpuMs: compare("cpuMs"),
        wakeUps: compare("wakeUps"),
        commits: toCost(after.commits - before.commits),
        walKib: toCost((after.walBytes - before.walBytes) / 1_024),
      };
    };
  };
  return { start, listStatements: (count: number) => listStatements(admin, count) };
};

/** Returns the statements per payment since the last reset. */
const listStatements = async (admin: Client, count: number): Promise<StatementCost[]> => {
  const { rows } = await admin.query<StatementCost>(
    `SELECT rolname AS service, (calls / $1::float8)::float8 AS calls,
       ((total_exec_time + total_plan_time) / $1::float8)::float8 AS ms,
       regexp_replace(query, '\\s+', ' ', 'g') AS text
     FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND rolname <> current_user
     ORDER BY calls DESC`,
    [count],
  );
  return rows;
};
