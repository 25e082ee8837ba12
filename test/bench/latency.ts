import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../rig/percentile.ts";
import { connectBareClients } from "./bare-clients.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type Bench, compare, median, round, takeTurns } from "./harness.ts";
import { callEvenly, warmUp } from "./load.ts";
import {
  type Cost,
  type StartMeters,
  createMeters,
  formatCalls,
  measureCalls,
  sumCpuMs,
} from "./meters.ts";
import { type Shop, createOpenLinks, createPayNext, startShop } from "./payments.ts";

const perSecond = Number(process.env["RATE"] ?? 50);
const replicasPerService = Number(process.env["REPLICAS"] ?? 1);
const roundCount = Number(process.env["ROUNDS"] ?? 3);
const secondsPerRound = 10;
const warmUpStepSeconds = 5;
const idleSeconds = 5;

/**
 * Measures the time from a committed settlement, when the provider has its response, to the first
 * byte of the webhook at the receiver. It runs all four services with `REPLICAS` (1) replicas each,
 * at `RATE` (50) payments per second. Compares this, in `ROUNDS` (3) turns, with producing and
 * consuming a record on the same broker. `ratio` compares the medians and `ratioP99` the 99th
 * percentiles. `chain` is the duration of the same steps with only bare clients: a record, a commit,
 * a record, a commit and a call, one after the other. `cpuMs` is the CPU time per payment of the
 * services and their servers, with their idle time, and `chainCpuMs` that of the bare clients and
 * of what they cause in the servers.
 */
export const benchLatency: Bench = async (onEnd) => {
  const servers = await startBenchServers();
  onEnd(servers.close);
  const shop = await startShop(onEnd, { replicasPerService });
  const payNext = createPayNext(shop, await createOpenLinks(shop));
  const { sendRecord, runChain } = await connectBareClients(onEnd, shop.system);
  for (const call of [payNext, sendRecord, runChain]) {
    await warmUp(call, { perSecond, stepSeconds: warmUpStepSeconds });
  }
  const startMeters = await createMeters(shop);
  const callOptions = { count: secondsPerRound * perSecond, perSecond };
  const measureServers = await createServerMeter(shop, startMeters);
  const rounds = await takeTurns(
    roundCount,
    {
      ours: () => measureCalls(startMeters, () => callEvenly(payNext, callOptions)),
      floor: () => measureServers(() => callEvenly(sendRecord, callOptions)),
      chain: () => measureServers(() => callEvenly(runChain, callOptions)),
    },
    formatCalls,
  );
  const listMs = (side: keyof typeof rounds) =>
    rounds[side].flatMap(({ durationsMs }) => durationsMs);
  const getCpuMs = (side: keyof typeof rounds) =>
    round(median(rounds[side].map(({ cpuMs }) => cpuMs)));
  const compareAt = (share: number) =>
    compare(percentile(listMs("ours"), share), percentile(listMs("floor"), share));
  const p99 = compareAt(0.99);
  return {
    ...compareAt(0.5),
    oursP99: p99.ours,
    floorP99: p99.floor,
    ratioP99: p99.ratio,
    chain: round(percentile(listMs("chain"), 0.5)),
    chainP99: round(percentile(listMs("chain"), 0.99)),
    cpuMs: getCpuMs("ours"),
    chainCpuMs: getCpuMs("chain"),
  };
};

/**
 * Returns a function that measures work of this process: its own CPU time and that of the servers,
 * without the time that they use for the idle services.
 */
const createServerMeter = async ({ system }: Shop, startMeters: StartMeters) => {
  const services = new Set<string>(system.replicas.map(({ service }) => service));
  const sumServers = (cost: Cost): number => sumCpuMs(cost, (name) => !services.has(name));
  const endIdle = await startMeters();
  await sleep(idleSeconds * 1_000);
  const idleMsPerSecond = sumServers(await endIdle(idleSeconds));
  return async (runCalls: () => Promise<readonly number[]>) => {
    const [endMeters, usageBefore] = [await startMeters(), process.cpuUsage()];
    const durationsMs = await runCalls();
    const { length: count } = durationsMs;
    const { system: systemTime, user } = process.cpuUsage(usageBefore);
    const serverMs = sumServers(await endMeters(count)) - idleMsPerSecond / perSecond;
    return { durationsMs, cpuMs: serverMs + (systemTime + user) / 1_000 / count };
  };
};
