import { Client } from "pg";
import { callEvenly, startArrivalReceiver, createLinks, payOne, warmUp } from "../bench/latency.ts";
import { listChildren, readCpuMs, readCpuMsOfTree } from "../bench/process-cpu.ts";
import { percentile } from "../rig/percentile.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { type BareParts, measureBareParts } from "./bare-parts.ts";
import { type Statement, findPostgresPid, readStatements } from "./idle.ts";

/** The cost of one payment at a rate, from its notice to its webhook. Includes the idle cost. */
export type PaymentCost = {
  perSecond: number;
  /** Payments per second whose webhooks arrived. */
  deliveredPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMs: Readonly<Record<string, number>>;
  /**
   * `ours` is the total. `floor` has the costs of the bare operations at this rate. `ratio` is
   * `ours` divided by `floor.payment`.
   */
  ours: number;
  floor: BareParts;
  ratio: number;
  statements: number;
  commits: number;
  walKib: number;
  /** The Postgres statements of the services per payment. */
  statementCosts: readonly Statement[];
};

const warmUpStepSeconds = 5;

/** Measures payments at one rate after another. Uses one system without tracing. */
export const profileCost = async (options: {
  rates: readonly number[];
  secondsPerRate: number;
  replicasPerService: number;
}): Promise<PaymentCost[]> => {
  const { rates, replicasPerService, secondsPerRate } = options;
  const floors = await measureBareParts(rates);
  const receiver = await startArrivalReceiver();
  const system = await startRealSystem({
    replicasPerService,
    env: {
      ...buildShopEnv(receiver),
      ...unlimitedEnv,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    await admin.query("CREATE EXTENSION pg_stat_statements");
    const readMeters = await createMeters(system, admin);
    const linkIds = await createLinks(system);
    const pay = (index: number) => payOne(system, receiver, linkIds, index);
    const costs: PaymentCost[] = [];
    for (const [index, perSecond] of rates.entries()) {
      const floor = floors[index];
      if (floor === undefined) throw new Error("the baseline is missing");
      await warmUp(pay, { perSecond, stepSeconds: warmUpStepSeconds });
      const count = secondsPerRate * perSecond;
      await admin.query("SELECT pg_stat_statements_reset()");
      const metersBefore = await readMeters();
      const startedAt = performance.now();
      const durationsMs = await callEvenly(pay, { count, perSecond });
      const seconds = (performance.now() - startedAt) / 1_000;
      const metersAfter = await readMeters();
      const statements = await readStatements(admin);
      const cpuMs = Object.fromEntries(
        Object.entries(metersAfter.cpuMs).map(([name, ms]) => [
          name,
          round((ms - (metersBefore.cpuMs[name] ?? 0)) / count),
        ]),
      );
      const ours = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
      costs.push({
        perSecond,
        deliveredPerSecond: round(count / seconds),
        p50Ms: round(percentile(durationsMs, 0.5)),
        p99Ms: round(percentile(durationsMs, 0.99)),
        cpuMs,
        ours: round(ours),
        floor,
        ratio: round(ours / floor.payment),
        statements: round(statements.reduce((sum, { calls }) => sum + calls, 0) / count),
        commits: round((metersAfter.commits - metersBefore.commits) / count),
        walKib: round((metersAfter.walBytes - metersBefore.walBytes) / 1_024 / count),
        statementCosts: statements.map(({ buffers, calls, ms, ...statementFields }) => ({
          ...statementFields,
          calls: round(calls / count),
          ms: round(ms / count),
          buffers: round(buffers / count),
        })),
      });
    }
    return costs;
  } finally {
    await admin.end();
    await system.close();
    receiver.close();
  }
};

const round = (value: number): number => Number(value.toFixed(2));

/** The totals since the start. CPU time is by program or service. */
export type Meters = { cpuMs: Record<string, number>; commits: number; walBytes: number };

/**
 * Returns the CPU time by program or service, with the sum of a service's replicas. Includes Kafka
 * and Redis if this process started them.
 */
export const createMeters = async ({ replicas }: RealSystem, admin: Client) => {
  const postgresPid = await findPostgresPid(admin);
  const servers = listChildren(process.pid).filter(({ name }) => /^(?:java|redis)/.test(name));
  return async (): Promise<Meters> => {
    const cpuMs: Record<string, number> = { postgres: readCpuMsOfTree(postgresPid) };
    for (const replica of replicas) {
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
};
