import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "@payment-links/runtime/testing";
import type { OnEnd } from "../bench/harness.ts";
import { callEvenly } from "../bench/load.ts";
import { createOpenLinks, pay, startShop } from "../bench/payments.ts";
import { type TraceCollector, startCollector } from "@payment-links/runtime/testing/collector";
import type { RealSystem } from "../rig/real-system.ts";
import { parseSpans } from "../rig/spans.ts";
import { type Cost, createMeters } from "../bench/meters.ts";
import { type StageTimes, type Stamps, createStamps, computeStageTimes } from "./stages.ts";

type LatencyProfile = {
  /** The number of payments with a timestamp for every stage. */
  followedCount: number;
  /** The milliseconds of each stage. */
  stages: readonly StageTimes[];
  /** The cost of a payment, including idle time. */
  perPayment: Cost;
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
/** Spans are exported every second. */
const spansMsMax = 10_000;

/**
 * Follows payments through all four services at a fixed rate, from the provider's notice to the
 * first byte at the merchant's server. The timestamps come from the services' own tracing spans.
 */
export const profileLatency = async (
  onEnd: OnEnd,
  { directory, paymentCount, perSecond, replicasPerService }: LatencyOptions,
): Promise<LatencyProfile> => {
  const collector = await startCollector();
  onEnd(() => collector.close());
  const shop = await startShop(onEnd, {
    replicasPerService,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_BSP_SCHEDULE_DELAY: "1000",
      NODE_OPTIONS: `--import=${import.meta.resolve("./cpu-profile.ts")}`,
      PROFILE_DIRECTORY: directory,
    },
  });
  const linkIds = await createOpenLinks(shop);
  const startMeters = await createMeters(shop);
  const payNext = async (index: number): Promise<[string, number]> => {
    const traceId = randomBytes(16).toString("hex");
    const traceparent = `00-${traceId}-${randomBytes(8).toString("hex")}-01`;
    const linkId = linkIds[index % linkIds.length] ?? "";
    const { arrivedAt } = await pay(shop, linkId, { headers: { traceparent } });
    return [traceId, performance.timeOrigin + arrivedAt];
  };
  await callEvenly(payNext, { count: Math.ceil((warmUpMs / 1000) * perSecond), perSecond });
  const endMeters = await startMeters();
  const writeProfiles = startProfiling(shop.system, directory);
  const arrivals = await callEvenly(payNext, { count: paymentCount, perSecond });
  const files = await writeProfiles();
  const perPayment = await endMeters(paymentCount);
  const stamps = await findStamps(collector, new Map(arrivals));
  return { followedCount: stamps.length, stages: computeStageTimes(stamps), perPayment, files };
};

/**
 * Starts a CPU profile of each process of a system. Returns a function that stops the profiles and
 * returns their paths.
 */
const startProfiling = ({ replicas }: RealSystem, directory: string): (() => Promise<string[]>) => {
  const toggle = (): void => {
    for (const replica of replicas) process.kill(replica.pid(), "SIGUSR2");
  };
  toggle();
  return async () => {
    toggle();
    const paths = replicas.map((replica) =>
      join(directory, `${replica.service}-${replica.pid()}.cpuprofile`),
    );
    await waitUntil("CPU profiles are written", () => paths.every((path) => existsSync(path)));
    return paths;
  };
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
