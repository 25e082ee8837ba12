import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { startChild } from "../rig/child.ts";
import {
  type DispatchRun,
  createDispatchAccount,
  runMsMax,
  slotsPerEndpoint,
  startDispatcher,
} from "./dispatch-run.ts";
import { type Bench, compare, findWorst, median, print, round, takeTurns } from "./harness.ts";

const deliveryCount = 20_000;
const roundCount = 3;
const warmUpCount = 4_000;
const bodyBytes = 1_024;
const endpointCounts = [1, 5];

/**
 * Measures the delivery rate of one dispatcher, from a record in Kafka to a recorded 2xx. Compares
 * it, in turns, with a loop that signs and posts the same bodies to the same sink. Runs with one
 * endpoint and with five. `ratio` compares the rates. `cpuRatio` compares the CPU time per delivery
 * of the dispatcher and Postgres with that of the loop. Both are the worst measured values.
 */
export const benchDispatch: Bench = async (onEnd) => {
  const dispatcher = await startDispatcher(onEnd);
  const shapes = [];
  for (const endpointCount of endpointCounts) {
    const dispatch = await createDispatchAccount(dispatcher, { endpointCount, via: "plain" });
    const connections = slotsPerEndpoint * endpointCount;
    const runs = await runInTurns(endpointCount, {
      ours: dispatch,
      floor: (count) => runFloor(dispatcher.sinkPort, { connections, count }),
    });
    const getMedian = (side: keyof typeof runs, name: keyof DispatchRun) =>
      median(runs[side].map((run) => run[name]));
    shapes.push({
      endpoints: endpointCount,
      ...compare(getMedian("ours", "rate"), getMedian("floor", "rate"), 0),
      cpuRatio: round(getMedian("ours", "cpuMs") / getMedian("floor", "cpuMs")),
    });
  }
  const cpuRatio = Math.max(...shapes.map((shape) => shape.cpuRatio));
  return { ...findWorst(shapes, "lowest"), cpuRatio, shapes };
};

/**
 * Compares the same deliveries over keep-alive TLS connections with deliveries without TLS, in
 * turns. The unit is milliseconds of CPU time per delivery, for the dispatcher and Postgres
 * together. The result is the worse of the ratios with one and with five endpoints.
 */
export const benchDispatchTls: Bench = async (onEnd) => {
  const dispatcher = await startDispatcher(onEnd);
  const shapes = [];
  for (const endpointCount of endpointCounts) {
    const runs = await runInTurns(endpointCount, {
      ours: await createDispatchAccount(dispatcher, { endpointCount, via: "tls" }),
      floor: await createDispatchAccount(dispatcher, { endpointCount, via: "plain" }),
    });
    const getMedian = (side: keyof typeof runs) => median(runs[side].map(({ cpuMs }) => cpuMs));
    const shape = compare(getMedian("ours"), getMedian("floor"), 3);
    shapes.push({ endpoints: endpointCount, ...shape });
  }
  return { ...findWorst(shapes), shapes };
};

type Run = (deliveryCount: number) => Promise<DispatchRun>;

const runInTurns = async (
  endpointCount: number,
  { ours, floor }: { ours: Run; floor: Run },
): Promise<{ ours: DispatchRun[]; floor: DispatchRun[] }> => {
  print(`${endpointCount} endpoints`);
  await ours(warmUpCount);
  await floor(warmUpCount);
  const variants = { ours: () => ours(deliveryCount), floor: () => floor(deliveryCount) };
  return takeTurns(
    roundCount,
    variants,
    ({ cpuMs, rate }) => `${rate.toFixed(0)}/s, ${cpuMs.toFixed(3)} ms CPU`,
  );
};

const FloorOutput = z.object({ rate: z.number(), cpuMs: z.number() });

const runFloor = async (
  sinkPort: number,
  { connections, count }: { connections: number; count: number },
): Promise<DispatchRun> => {
  const child = startChild("test/bench/dispatch-floor.ts", {
    SINK_URL: `http://127.0.0.1:${sinkPort}`,
    COUNT: String(count),
    CONNECTIONS: String(connections),
    BODY: "x".repeat(bodyBytes),
  });
  await waitUntil("the floor process has exited", () => !child.isRunning(), runMsMax);
  return FloorOutput.parse(JSON.parse(child.output()));
};
