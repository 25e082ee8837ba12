import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { openBareClients } from "../bench/bare-clients.ts";
import { callEvenly, warmUp } from "../bench/latency.ts";
import { childrenOf, cpuMsOf, cpuMsOfTree } from "../bench/process-cpu.ts";
import { findPostgres } from "./rest.ts";

/**
 * Processor time of one of each at a rate, in milliseconds, what rests taken off: a record produced and
 * consumed, a row committed, a call over HTTP. `payment` is what no payment with our guarantees does without:
 * two records, one call in and one out (a half of each is its peer's), and four commits: the notice, its
 * application, the delivery and its outcome.
 */
export type BareParts = { record: number; commit: number; call: number; payment: number };

const secondsPerPart = 10;
const warmUpStepSeconds = 2;
const parts = { record: 2, commit: 4, call: 1 } as const;

/** Measures the bare parts at one rate after the other, in this process and the servers that it uses. */
export const measureBareParts = async (rates: readonly number[]): Promise<BareParts[]> => {
  const database = await createTestDatabase([]);
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  const bare = await openBareClients({
    topic: `bare-parts-${process.pid}`,
    adminUrl: database.adminUrl,
  });
  try {
    const cpuMs = await openMeter(admin);
    const costs: BareParts[] = [];
    for (const perSecond of rates) {
      const rest = await cpuMsPerSecond(cpuMs);
      const measure = async (one: () => Promise<unknown>): Promise<number> => {
        await warmUp(one, { perSecond, stepSeconds: warmUpStepSeconds });
        const before = cpuMs();
        await callEvenly(one, { count: secondsPerPart * perSecond, perSecond });
        return (cpuMs() - before - rest * secondsPerPart) / (secondsPerPart * perSecond);
      };
      const [record, commit, call] = [
        await measure(bare.record),
        await measure(bare.commit),
        await measure(bare.call),
      ];
      const payment = parts.record * record + parts.commit * commit + parts.call * call;
      costs.push({
        record: round(record),
        commit: round(commit),
        call: round(call),
        payment: round(payment),
      });
    }
    return costs;
  } finally {
    await bare.close();
    await admin.end();
    await database.drop();
  }
};

/** This process, which also asks, Postgres and what this process started. */
const openMeter = async (admin: Client) => {
  const postgresPid = await findPostgres(admin);
  const servers = childrenOf(process.pid).filter(({ name }) => /^(?:java|redis)/.test(name));
  return (): number =>
    [process.pid, ...servers.map(({ pid }) => pid)].reduce((sum, pid) => sum + cpuMsOf(pid), 0) +
    cpuMsOfTree(postgresPid);
};

const cpuMsPerSecond = async (cpuMs: () => number): Promise<number> => {
  const before = cpuMs();
  await sleep(secondsPerPart * 1_000);
  return (cpuMs() - before) / secondsPerPart;
};

const round = (value: number): number => Number(value.toFixed(2));
