import { listChildren, findPostgresPid, readCpuMs, readCpuMsOfTree } from "../bench/process-cpu.ts";
import type { Shop } from "../bench/payments.ts";

/** The totals since the start. CPU time is by program or service. */
type Meters = { cpuMs: Readonly<Record<string, number>>; commits: number; walBytes: number };

/** The cost of one payment or link. */
export type Cost = { cpuMs: Readonly<Record<string, number>>; commits: number; walKib: number };

/**
 * Reads the CPU time by program or service, with the sum of a service's replicas, and the work of
 * Postgres. Includes Kafka and Redis if this process started them. The returned function starts to
 * measure, and returns a function that ends the measurement of `count` payments or links.
 */
export const createMeters = async ({ admin, system }: Pick<Shop, "admin" | "system">) => {
  const postgresPid = await findPostgresPid(admin);
  const servers = listChildren(process.pid).filter(({ name }) => /^(?:java|redis)/.test(name));
  const read = async (): Promise<Meters> => {
    const cpuMs: Record<string, number> = { postgres: readCpuMsOfTree(postgresPid) };
    for (const replica of system.replicas) {
      cpuMs[replica.service] = (cpuMs[replica.service] ?? 0) + readCpuMs(replica.pid());
    }
    for (const { name, pid } of servers) cpuMs[name] = readCpuMs(pid);
    const { rows } = await admin.query<{ commits: number; walBytes: number }>(
      `SELECT (SELECT xact_commit FROM pg_stat_database
          WHERE datname = current_database())::float8 AS commits,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"`,
    );
    const [stats] = rows;
    if (stats === undefined) throw new Error("pg_stat_database returned no row");
    return { cpuMs, ...stats };
  };
  return async (): Promise<(count: number) => Promise<Cost>> => {
    const before = await read();
    return async (count) => {
      const after = await read();
      const toCost = (value: number): number => Number((value / count).toFixed(3));
      return {
        cpuMs: Object.fromEntries(
          Object.entries(after.cpuMs)
            .map(([name, ms]) => [name, toCost(ms - (before.cpuMs[name] ?? 0))] as const)
            .filter(([, ms]) => ms > 0),
        ),
        commits: toCost(after.commits - before.commits),
        walKib: toCost((after.walBytes - before.walBytes) / 1_024),
      };
    };
  };
};
