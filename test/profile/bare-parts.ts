import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool } from "pg";
import { request } from "undici";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { callEvenly, openRoundTrip, warmUp } from "../bench/latency.ts";
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
  const pool = new Pool({ connectionString: database.adminUrl, max: 10 });
  await admin.connect();
  const roundTrip = await openRoundTrip(`bare-parts-${process.pid}`);
  const server = createServer((req, res) => req.resume().on("end", () => res.end("{}")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await admin.query("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY, body text)");
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
        await measure(roundTrip.send),
        await measure(() => commitRow(pool)),
        await measure(async () => (await request(url, { method: "POST", body })).body.dump()),
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
    server.close();
    await roundTrip.close();
    await pool.end();
    await admin.end();
    await database.drop();
  }
};

const body = JSON.stringify({ about: "as long as a notice is".padEnd(600, ".") });

const insert = { name: "insert-bare", text: "INSERT INTO bare (body) VALUES ($1)", values: [body] };

/** In a transaction of its own, as a change with its event is. */
const commitRow = async (pool: Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(insert);
    await client.query("COMMIT");
  } finally {
    client.release();
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
