import { percentile } from "../rig/percentile.ts";
import {
  countWakeUps,
  findPostgresPid,
  listChildren,
  readCpuMs,
  readCpuMsOfTree,
} from "./process-cpu.ts";
import type { Shop } from "./payments.ts";

/** A number for each program or service. */
type ByProcess = Readonly<Record<string, number>>;

/** The totals since the start. */
type Meters = { cpuMs: ByProcess; wakeUps: ByProcess; commits: number; walBytes: number };

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
 * and the work of Postgres. Includes Kafka and Redis if this process started them. The returned
 * function starts to measure, and returns a function that ends the measurement of `count` payments,
 * links or seconds.
 */
export const createMeters = async ({ admin, system }: Pick<Shop, "admin" | "system">) => {
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
  return async (): Promise<(count: number) => Promise<Cost>> => {
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
};

/** Returns the CPU time of all processes, or of those that `isIncluded` selects by name. */
export const sumCpuMs = (
  { cpuMs }: Pick<Cost, "cpuMs">,
  isIncluded: (name: string) => boolean = () => true,
): number =>
  Object.entries(cpuMs).reduce((sum, [name, ms]) => sum + (isIncluded(name) ? ms : 0), 0);

/** What `createMeters` returns. */
export type StartMeters = Awaited<ReturnType<typeof createMeters>>;

/** The durations of calls, and the CPU time of one of them. */
type MeasuredCalls = { durationsMs: readonly number[]; cpuMs: number };

/** Measures calls, and the CPU time that all processes used for each of them. */
export const measureCalls = async (
  startMeters: StartMeters,
  runCalls: () => Promise<readonly number[]>,
): Promise<MeasuredCalls> => {
  const endMeters = await startMeters();
  const durationsMs = await runCalls();
  return { durationsMs, cpuMs: sumCpuMs(await endMeters(durationsMs.length)) };
};

export const formatCalls = ({ cpuMs, durationsMs }: MeasuredCalls): string => {
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(durationsMs, share).toFixed(1));
  return `p50 ${p50} ms, p99 ${p99} ms, ${cpuMs.toFixed(2)} ms CPU`;
};
