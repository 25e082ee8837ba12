import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { createBareClients } from "../bench/bare-clients.ts";
import { callEvenly, warmUp } from "../bench/latency.ts";
import { listChildren, readCpuMs, readCpuMsOfTree } from "../bench/process-cpu.ts";
import { findPostgresPid } from "./idle.ts";

/**
 * CPU time per operation at a given rate, in milliseconds, without idle time. The operations are:
 * producing and consuming a record, committing a row, and an HTTP call. `payment` is the minimum
 * for a payment with our guarantees. It consists of two records, four commits (the notice, its
 * application, the delivery and its result), and two halves of a call, because the other halves of
 * the incoming and the outgoing call belong to the peers.
 */
export type BareParts = { record: number; commit: number; call: number; payment: number };

const secondsPerPart = 10;
const warmUpStepSeconds = 2;
const partsPerPayment = { record: 2, commit: 4, call: 1 } as const;

/**
 * Measures the bare operations at one rate after another, in this process and the servers that it
 * uses.
 */
export const measureBareParts = async (rates: readonly number[]): Promise<BareParts[]> => {
  const database = await createTestDatabase([]);
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  const bare = await createBareClients({
    topic: `bare-parts-${process.pid}`,
    adminUrl: database.adminUrl,
  });
  try {
    const cpuMs = await createCpuMeter(admin);
    const costs: BareParts[] = [];
    for (const perSecond of rates) {
      const idleCpuMsPerSecond = await cpuMsPerSecond(cpuMs);
      const measure = async (runPart: () => Promise<unknown>): Promise<number> => {
        await warmUp(runPart, { perSecond, stepSeconds: warmUpStepSeconds });
        const cpuMsBefore = cpuMs();
        await callEvenly(runPart, { count: secondsPerPart * perSecond, perSecond });
        return (
          (cpuMs() - cpuMsBefore - idleCpuMsPerSecond * secondsPerPart) /
          (secondsPerPart * perSecond)
        );
      };
      const [record, commit, call] = [
        await measure(bare.record),
        await measure(bare.commit),
        await measure(bare.call),
      ];
      const payment =
        partsPerPayment.record * record +
        partsPerPayment.commit * commit +
        partsPerPayment.call * call;
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

/**
 * Measures the CPU time of this process, which also makes the calls, of Postgres, and of the
 * servers that this process started.
 */
const createCpuMeter = async (admin: Client) => {
  const postgresPid = await findPostgresPid(admin);
  const servers = listChildren(process.pid).filter(({ name }) => /^(?:java|redis)/.test(name));
  return (): number =>
    [process.pid, ...servers.map(({ pid }) => pid)].reduce((sum, pid) => sum + readCpuMs(pid), 0) +
    readCpuMsOfTree(postgresPid);
};

const cpuMsPerSecond = async (cpuMs: () => number): Promise<number> => {
  const cpuMsBefore = cpuMs();
  await sleep(secondsPerPart * 1_000);
  return (cpuMs() - cpuMsBefore) / secondsPerPart;
};

const round = (value: number): number => Number(value.toFixed(2));
