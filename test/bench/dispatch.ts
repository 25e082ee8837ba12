import * as z from "zod";
import { type Child, startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { startBenchServers } from "./bench-servers.ts";
import {
  type DispatchBench,
  type DispatchRun,
  createDispatchBench,
  runDispatch,
  runMsMax,
  slotsPerEndpoint,
} from "./dispatch-run.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const deliveryCount = 20_000;
const roundCount = 3;
const warmUpCount = 4_000;
const bodyBytes = 1_024;

type FloorRun = Omit<DispatchRun, "commits">;

/**
 * Measures the delivery rate of one dispatcher, from a record in Kafka to a recorded 2xx. Compares
 * it, in turns, with a loop that signs and posts the same bodies to the same sink. Runs with one
 * endpoint and with five. `ratio` compares the rates. `cpuRatio` compares the CPU time per delivery
 * of the dispatcher and Postgres with that of the loop. Both are the worst measured values.
 */
export const benchDispatch = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const [sinkPort = 0] = await findFreePorts(1);
  const sink = startChild("test/bench/sink-server.ts", { PORT: String(sinkPort) });
  await waitUntilListening(sink);
  const shapes: DispatchResult[] = [];
  try {
    for (const endpointCount of [1, 5])
      shapes.push(await measureEndpointCount(sinkPort, endpointCount));
  } finally {
    await sink.terminate("SIGTERM");
    await servers.close();
  }
  const worst = shapes.toSorted((a, b) => a.ratio - b.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return {
    ...worst,
    cpuRatio: Math.max(...shapes.map(({ cpuRatio }) => cpuRatio)),
    commitsPerDelivery: Math.max(...shapes.map(({ commitsPerDelivery }) => commitsPerDelivery)),
    shapes,
  };
};

type DispatchResult = BenchResult & {
  endpoints: number;
  cpuRatio: number;
  commitsPerDelivery: number;
};

const measureEndpointCount = async (
  sinkPort: number,
  endpointCount: number,
): Promise<DispatchResult> => {
  const bench = await createDispatchBench({ sinkPort, endpointCount });
  try {
    await runDispatch(bench, warmUpCount);
    await runFloor(bench, warmUpCount);
    const ours: DispatchRun[] = [];
    const floor: FloorRun[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      ours.push(await runDispatch(bench, deliveryCount));
      floor.push(await runFloor(bench, deliveryCount));
      printRound(endpointCount, ours.at(-1), floor.at(-1));
    }
    return summarize(endpointCount, ours, floor);
  } finally {
    await bench.close();
  }
};

const printRound = (endpoints: number, ours?: DispatchRun, floor?: FloorRun): void => {
  if (ours === undefined || floor === undefined) return;
  process.stdout.write(
    `${endpoints} endpoints: ours ${ours.rate.toFixed(0)}/s, ${ours.cpuMs.toFixed(3)} ms CPU, ` +
      `${ours.commits.toFixed(4)} commits each; floor ${floor.rate.toFixed(0)}/s, ` +
      `${floor.cpuMs.toFixed(3)} ms CPU\n`,
  );
};

const summarize = (
  endpoints: number,
  ours: readonly DispatchRun[],
  floor: readonly FloorRun[],
): DispatchResult => {
  const rate = median(ours.map((run) => run.rate));
  const floorRate = median(floor.map((run) => run.rate));
  const cpuMs = median(ours.map((run) => run.cpuMs));
  const floorCpuMs = median(floor.map((run) => run.cpuMs));
  return {
    endpoints,
    ours: Math.round(rate),
    floor: Math.round(floorRate),
    ratio: Number((rate / floorRate).toFixed(3)),
    cpuRatio: Number((cpuMs / floorCpuMs).toFixed(2)),
    commitsPerDelivery: Number(median(ours.map((run) => run.commits)).toFixed(4)),
  };
};

const FloorOutput = z.object({ rate: z.number(), cpuMs: z.number() });

const runFloor = async (
  { endpointCount, sinkPort }: DispatchBench,
  runDeliveryCount: number,
): Promise<FloorRun> => {
  const child: Child = startChild("test/bench/dispatch-floor.ts", {
    SINK_URL: `http://127.0.0.1:${sinkPort}`,
    COUNT: String(runDeliveryCount),
    CONNECTIONS: String(slotsPerEndpoint * endpointCount),
    BODY: "x".repeat(bodyBytes),
  });
  await waitUntil("the floor process has exited", () => !child.isRunning(), runMsMax);
  return FloorOutput.parse(JSON.parse(child.output()));
};
