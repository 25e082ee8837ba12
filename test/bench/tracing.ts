import { Pool } from "undici";
import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { type Child, startChild, waitUntilListening } from "../rig/child.ts";
import { call, createMerchant } from "../rig/client.ts";
import { startCollector } from "../rig/collector.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { createBenchDatabase } from "./database.ts";
import { type Call, median } from "./load.ts";
import { readCpuMs } from "./process-cpu.ts";
import type { BenchResult } from "./rounds.ts";
import { connectionCount, poolSize } from "./bench-setup.ts";

const roundCount = 7;
const callsPerRound = 3_000;
const warmUpCalls = 6_000;
const microsPerMilli = 1_000;

/**
 * One of two servers that differ only in tracing. Each server has its own database, so both have an
 * active relay.
 */
type BenchServer = {
  child: Child;
  baseUrl: string;
  apiKey: string;
  linkId: string;
  close(): Promise<void>;
};

/**
 * Measures the cost of tracing. Compares the CPU time of links-api per request while it exports
 * every span with its CPU time without tracing. Half of the calls create links, and the other half
 * retrieve links. The ratio should stay under 1.5.
 */
export const benchTracing = async (): Promise<BenchResult> => {
  const collector = await startCollector();
  const traced = await startServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: "none",
    OTEL_LOGS_EXPORTER: "none",
  });
  const plain = await startServer({});
  try {
    for (const server of [traced, plain]) await measureCpuPerCall(server, warmUpCalls);
    const micros = { traced: [] as number[], plain: [] as number[] };
    for (let round = 0; round < roundCount; round += 1) {
      if (round % 2 === 0) micros.traced.push(await measureCpuPerCall(traced, callsPerRound));
      micros.plain.push(await measureCpuPerCall(plain, callsPerRound));
      if (round % 2 === 1) micros.traced.push(await measureCpuPerCall(traced, callsPerRound));
      const [tracedMicros = 0, plainMicros = 0] = [micros.traced[round], micros.plain[round]];
      process.stdout.write(
        `round ${round + 1}: ${tracedMicros.toFixed(0)} µs with tracing, ${plainMicros.toFixed(0)} µs without, ` +
          `ratio ${(tracedMicros / plainMicros).toFixed(3)}\n`,
      );
    }
    if (!collector.received().includes("POST /v1/payment-link"))
      throw new Error("no spans were received");
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

const startServer = async (tracingEnv: Record<string, string>): Promise<BenchServer> => {
  const database = await createBenchDatabase([authKeysMigration, linksApiMigration]);
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const child = startChild("test/bench/our-server.ts", {
    AUTH_KEYS_URL: database.urlOf("auth_keys"),
    LINKS_API_URL: database.urlOf("links_api"),
    CONNECTIONS: String(poolSize),
    NODE_ENV: "production",
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    ...tracingEnv,
  });
  await waitUntilListening(child);
  const baseUrl = `http://127.0.0.1:${port}`;
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const { apiKey } = await createMerchant({ baseUrl, internalUrl }, "bench");
  const created = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: { toAmount: "25.5" },
  });
  const close = async () => {
    await child.terminate("SIGTERM");
    await database.close();
  };
  return { child, baseUrl, apiKey, linkId: String(created.body["id"]), close };
};

/** Returns the CPU time of a server per call, in microseconds. */
const measureCpuPerCall = async (server: BenchServer, count: number): Promise<number> => {
  const { child, baseUrl, apiKey, linkId } = server;
  const pool = new Pool(baseUrl, { connections: connectionCount, pipelining: 1 });
  const create: Call = {
    method: "POST",
    path: "/v1/payment-link",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ toAmount: "25.5", description: "Order 1001" }),
  };
  const retrieve: Call = { method: "GET", path: `/v1/payment-link/${linkId}` };
  const beforeMs = readCpuMs(child.pid);
  let nextIndex = 0;
  const runWorker = async () => {
    for (let index = nextIndex++; index < count; index = nextIndex++) {
      const { statusCode, body } = await pool.request(index % 2 === 0 ? create : retrieve);
      await body.dump();
      if (statusCode !== 200) throw new Error(`${baseUrl} responded with ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connectionCount }, runWorker));
  await pool.close();
  return ((readCpuMs(child.pid) - beforeMs) / count) * microsPerMilli;
};
