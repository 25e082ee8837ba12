import { Pool } from "undici";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { type Child, startChild, waitListening } from "../rig/child.ts";
import { call, openMerchant } from "../rig/client.ts";
import { openCollector } from "../rig/collector.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { openBenchDatabase } from "./database.ts";
import { type Call, median } from "./load.ts";
import { cpuMsOf } from "./process-cpu.ts";
import type { Verdict } from "./rounds.ts";
import { connectionCount, poolSize } from "./stage.ts";

const roundCount = 7;
const callsPerRound = 3_000;
const warmUpCalls = 6_000;
const microsPerMilli = 1_000;

/**
 * One of two servers that differ only in tracing. Each has its own database, so that each has a
 * relay at work.
 */
type Server = {
  child: Child;
  baseUrl: string;
  apiKey: string;
  linkId: string;
  close(): Promise<void>;
};

/**
 * What tracing costs: links-api's CPU time per request with every span exported, compared with the
 * same without. Half of the calls create, half retrieve. Bounded by 1.5.
 */
export const benchTracing = async (): Promise<Verdict> => {
  const collector = await openCollector();
  const traced = await openServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: "none",
    OTEL_LOGS_EXPORTER: "none",
  });
  const plain = await openServer({});
  try {
    for (const server of [traced, plain]) await cpuOfCalls(server, warmUpCalls);
    const micros = { traced: [] as number[], plain: [] as number[] };
    for (let round = 0; round < roundCount; round += 1) {
      if (round % 2 === 0) micros.traced.push(await cpuOfCalls(traced, callsPerRound));
      micros.plain.push(await cpuOfCalls(plain, callsPerRound));
      if (round % 2 === 1) micros.traced.push(await cpuOfCalls(traced, callsPerRound));
      const [on = 0, off = 0] = [micros.traced[round], micros.plain[round]];
      process.stdout.write(
        `round ${round + 1}: ${on.toFixed(0)} µs traced, ${off.toFixed(0)} µs not, ` +
          `ratio ${(on / off).toFixed(3)}\n`,
      );
    }
    if (!collector.received().includes("POST /v1/payment-link"))
      throw new Error("nothing was traced");
    const [ours, floor] = [median(micros.traced), median(micros.plain)];
    return {
      ours: Math.round(ours),
      floor: Math.round(floor),
      ratio: Number((ours / floor).toFixed(3)),
      unit: "µs of CPU per request",
    };
  } finally {
    await Promise.all([traced.close(), plain.close()]);
    await collector.close();
  }
};

const openServer = async (tracing: Record<string, string>): Promise<Server> => {
  const database = await openBenchDatabase([authKeysMigration, linksApiMigration]);
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const child = startChild("test/bench/our-server.ts", {
    AUTH_KEYS_URL: database.urlOf("auth_keys"),
    LINKS_API_URL: database.urlOf("links_api"),
    CONNECTIONS: String(poolSize),
    NODE_ENV: "production",
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    ...tracing,
  });
  await waitListening(child);
  const baseUrl = `http://127.0.0.1:${port}`;
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const { apiKey } = await openMerchant({ baseUrl, internalUrl }, "bench");
  const created = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: { toAmount: "25.5" },
  });
  const close = async () => {
    await child.end("SIGTERM");
    await database.close();
  };
  return { child, baseUrl, apiKey, linkId: String(created.body["id"]), close };
};

/** The CPU time that a server takes per call, in microseconds. */
const cpuOfCalls = async (server: Server, count: number): Promise<number> => {
  const { child, baseUrl, apiKey, linkId } = server;
  const pool = new Pool(baseUrl, { connections: connectionCount, pipelining: 1 });
  const create: Call = {
    method: "POST",
    path: "/v1/payment-link",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ toAmount: "25.5", description: "Order 1001" }),
  };
  const retrieve: Call = { method: "GET", path: `/v1/payment-link/${linkId}` };
  const beforeMs = cpuMsOf(child.pid);
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      const { statusCode, body } = await pool.request(index % 2 === 0 ? create : retrieve);
      await body.dump();
      if (statusCode !== 200) throw new Error(`${baseUrl} answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connectionCount }, work));
  await pool.close();
  return ((cpuMsOf(child.pid) - beforeMs) / count) * microsPerMilli;
};
