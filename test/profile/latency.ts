import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { callEvenly, createLinks } from "../bench/latency.ts";
import { readCpuMs } from "../bench/process-cpu.ts";
import { sendNotice } from "../rig/client.ts";
import { type TraceCollector, startCollector } from "../rig/collector.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { parseSpans } from "../rig/spans.ts";
import { type StageTimes, type Stamps, createStamps, computeStageTimes } from "./stages.ts";
import { replicaName, startProfiling, createProfilingEnv } from "./system-profiles.ts";

export type LatencyProfile = {
  /** The number of payments with a timestamp for every stage. */
  followedCount: number;
  /** The milliseconds of each stage. */
  stages: readonly StageTimes[];
  /** CPU time of each process per payment, in milliseconds, including idle time. */
  cpuMsPerPayment: Readonly<Record<string, number>>;
  /** Postgres commits of all services per payment, including idle commits. */
  commitsPerPayment: number;
  /** CPU profiles for DevTools and flame-graph viewers, one per process. */
  files: readonly string[];
};

type LatencyOptions = {
  perSecond: number;
  paymentCount: number;
  replicasPerService: number;
  /** The directory for the CPU profiles. */
  directory: string;
};

const warmUpMs = 3_000;
const arrivalMsMax = 60_000;
/** Spans are exported every second. */
const spansMsMax = 10_000;

/**
 * Follows payments through all four services at a fixed rate, from the provider's notice to the
 * first byte at the merchant's server. The timestamps come from the services' own tracing spans.
 */
export const profileLatency = async (options: LatencyOptions): Promise<LatencyProfile> => {
  const { directory, paymentCount, perSecond, replicasPerService } = options;
  const [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  const system = await startRealSystem({
    replicasPerService,
    env: {
      ...buildShopEnv(receiver),
      ...unlimitedEnv,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_BSP_SCHEDULE_DELAY: "1000",
      ...createProfilingEnv(directory),
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const linkIds = await createLinks(system);
    const pay = async (index: number): Promise<string> => {
      const traceId = randomBytes(16).toString("hex");
      await sendPayment(system, linkIds[index % linkIds.length] ?? "", traceId);
      await receiver.arrival(traceId);
      return traceId;
    };
    await callEvenly(pay, { count: Math.ceil((warmUpMs / 1000) * perSecond), perSecond });
    const costBefore = await measureCost(system, admin);
    const writeProfiles = startProfiling(system, directory);
    const traceIds = await callEvenly(pay, { count: paymentCount, perSecond });
    const files = await writeProfiles();
    const costAfter = await measureCost(system, admin);
    const arrivals = new Map(traceIds.map((id) => [id, receiver.arrivals.get(id) ?? Number.NaN]));
    const stamps = await findStamps(collector, arrivals);
    return {
      followedCount: stamps.length,
      stages: computeStageTimes(stamps),
      cpuMsPerPayment: Object.fromEntries(
        Object.entries(costAfter.cpuMs).map(([name, ms]) => [
          name,
          round((ms - (costBefore.cpuMs[name] ?? 0)) / paymentCount),
        ]),
      ),
      commitsPerPayment: round((costAfter.commits - costBefore.commits) / paymentCount),
      files,
    };
  } finally {
    await admin.end();
    await system.close();
    await Promise.all([collector.close(), receiver.close()]);
  }
};

/**
 * Returns the timestamps of payments. The span of a batch links to at most 32 events. Other events
 * cannot be followed.
 */
const findStamps = async (
  collector: TraceCollector,
  arrivals: ReadonlyMap<string, number>,
): Promise<Stamps[]> => {
  const endMs = performance.now() + spansMsMax;
  return waitUntil("the spans arrive", () => {
    const stamps = createStamps(parseSpans(collector.received()), arrivals);
    return (stamps.length === arrivals.size || performance.now() > endMs) && stamps;
  });
};

const round = (value: number): number => Number(value.toFixed(2));

const sendPayment = async (
  system: RealSystem,
  paymentLinkId: string,
  traceId: string,
): Promise<void> => {
  const notice = { id: `pay_${traceId}`, paymentLinkId, status: "settled", amount: "1" } as const;
  const traceparent = `00-${traceId}-${randomBytes(8).toString("hex")}-01`;
  const status = await sendNotice(system.baseUrl, acmeProvider, notice, { traceparent });
  if (status >= 300) throw new Error(`the notice got the response ${status}`);
};

type Cost = { cpuMs: Record<string, number>; commits: number };

const measureCost = async ({ replicas }: RealSystem, admin: Client): Promise<Cost> => {
  const { rows } = await admin.query<{ commits: string }>(
    "SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()",
  );
  return {
    cpuMs: Object.fromEntries(
      replicas.map((replica) => [replicaName(replica), readCpuMs(replica.pid())]),
    ),
    commits: Number(rows[0]?.commits ?? 0),
  };
};

/** Starts a receiver that records when the first webhook of each trace arrived. */
const startReceiver = async () => {
  const arrivals = new Map<string, number>();
  const server = createServer((req, res) => {
    const arrivedAtMs = performance.timeOrigin + performance.now();
    const traceId = String(req.headers["traceparent"]).split("-")[1] ?? "";
    if (!arrivals.has(traceId)) arrivals.set(traceId, arrivedAtMs);
    req.resume();
    req.on("end", () => res.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    arrival: (traceId: string) =>
      waitUntil(
        `the webhook of trace ${traceId} arrives`,
        () => arrivals.has(traceId),
        arrivalMsMax,
      ),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
