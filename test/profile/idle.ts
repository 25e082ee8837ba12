import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { readCpuMs, readCpuMsOfTree, readParentPid } from "../bench/process-cpu.ts";
import { startReceiver } from "../rig/receiver.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { buildShopEnv } from "../rig/shop-env.ts";

export type IdleProfile = {
  /** The percentage of one core that each process uses without requests. */
  cpuPercent: Readonly<Record<string, number>>;
  statements: readonly StatementRate[];
};

/** An SQL statement of one service, and how often it runs without requests. */
type StatementRate = { service: string; perSecond: number; text: string };

/**
 * An SQL statement of one service: its number of calls, the milliseconds that it took in Postgres,
 * and the buffers that it used.
 */
export type Statement = {
  service: string;
  calls: number;
  ms: number;
  buffers: number;
  text: string;
};

/** Longer than the work after the startup takes. */
const settleMs = 20_000;
const statementsMax = 40;

/** Measures the idle CPU use of the four services, and their load on Postgres. */
export const profileIdle = async (options: {
  replicasPerService: number;
  seconds: number;
}): Promise<IdleProfile> => {
  const { replicasPerService, seconds } = options;
  const receiver = await startReceiver();
  const env = buildShopEnv(receiver);
  const system = await startRealSystem({ replicasPerService, env });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    await admin.query("CREATE EXTENSION pg_stat_statements");
    const postgresPid = await findPostgresPid(admin);
    await sleep(settleMs);
    await admin.query("SELECT pg_stat_statements_reset()");
    const cpuMsBefore = readCpuMsByProcess(system, postgresPid);
    await sleep(seconds * 1_000);
    const cpuMsAfter = readCpuMsByProcess(system, postgresPid);
    return {
      cpuPercent: Object.fromEntries(
        Object.entries(cpuMsAfter).map(([name, ms]) => [
          name,
          round((ms - (cpuMsBefore[name] ?? 0)) / (seconds * 10)),
        ]),
      ),
      statements: (await readStatements(admin))
        .slice(0, statementsMax)
        .map(({ calls, service, text }) => ({ service, text, perSecond: round(calls / seconds) })),
    };
  } finally {
    await admin.end();
    await system.close();
    await receiver.close();
  }
};

const round = (value: number): number => Number(value.toFixed(2));

/** Returns the process ID of the Postgres process whose children serve all connections. */
export const findPostgresPid = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return readParentPid(rows[0]?.pid ?? -1);
};

const readCpuMsByProcess = (
  { replicas }: RealSystem,
  postgresPid: number,
): Record<string, number> => ({
  ...Object.fromEntries(
    replicas.map((replica) => [`${replica.service}-${replica.pid()}`, readCpuMs(replica.pid())]),
  ),
  postgres: readCpuMsOfTree(postgresPid),
});

/**
 * Returns the services' SQL statements since the statistics were reset, in descending order of
 * their frequency.
 */
export const readStatements = async (admin: Client): Promise<Statement[]> => {
  const { rows } = await admin.query<Statement>(
    `SELECT userid::regrole::text AS service, calls::float8 AS calls, total_exec_time AS ms,
       (shared_blks_hit + shared_blks_read)::float8 AS buffers,
       left(regexp_replace(btrim(query), '\\s+', ' ', 'g'), 110) AS text
     FROM pg_stat_statements
     WHERE toplevel AND userid <> current_user::regrole ORDER BY calls DESC`,
  );
  return rows;
};
