import { setTimeout as sleep } from "node:timers/promises";
import { type OnEnd, print, round } from "../bench/harness.ts";
import { callEvenly, warmUp } from "../bench/load.ts";
import { type Cost, createMeters, sumCpuMs } from "../bench/meters.ts";
import { createOpenLinks, createPayNext, startShop } from "../bench/payments.ts";
import { percentile } from "../rig/percentile.ts";
import { type StatementCost, countStatements } from "./statements.ts";

/**
 * The cost of one payment at a rate, from its notice to its webhook. Includes the idle cost. At the
 * rate 0, the cost of one second without payments.
 */
export type PaymentCost = Cost & {
  perSecond: number;
  /** Payments per second whose webhooks arrived. */
  deliveredPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The CPU time of all processes. */
  totalMs: number;
};

const warmUpStepSeconds = 5;
/** Rarer statements are not printed. */
const callsMin = 0.02;

/**
 * Measures payments at one rate after another. Uses one system without tracing. Prints the CPU time
 * and the wake-ups of each process, and the statements of each service.
 */
export const profileCost = async (
  onEnd: OnEnd,
  options: { rates: readonly number[]; secondsPerRate: number; replicasPerService: number },
): Promise<PaymentCost[]> => {
  const { rates, replicasPerService, secondsPerRate } = options;
  const shop = await startShop(onEnd, { replicasPerService });
  const startMeters = await createMeters(shop);
  const payNext = createPayNext(shop, await createOpenLinks(shop));
  const costs: PaymentCost[] = [];
  for (const perSecond of rates) {
    if (perSecond > 0) await warmUp(payNext, { perSecond, stepSeconds: warmUpStepSeconds });
    const count = secondsPerRate * Math.max(perSecond, 1);
    const listStatements = await countStatements(shop.admin);
    const [endMeters, startedAt] = [await startMeters(), performance.now()];
    const durationsMs =
      perSecond === 0
        ? await sleep(secondsPerRate * 1_000, [])
        : await callEvenly(payNext, { count, perSecond });
    const seconds = (performance.now() - startedAt) / 1_000;
    const cost = await endMeters(count);
    const totalMs = round(sumCpuMs(cost));
    printCost(perSecond, cost, await listStatements(count));
    costs.push({
      perSecond,
      deliveredPerSecond: round(durationsMs.length / seconds),
      p50Ms: round(percentile(durationsMs, 0.5)),
      p99Ms: round(percentile(durationsMs, 0.99)),
      totalMs,
      ...cost,
    });
  }
  return costs;
};

const printCost = (
  perSecond: number,
  { cpuMs, wakeUps }: Cost,
  statements: readonly StatementCost[],
): void => {
  const unit = perSecond === 0 ? "idle second" : `payment at ${perSecond}/s`;
  print(`per ${unit}: CPU ms, wake-ups, statements`);
  for (const [name, ms] of Object.entries(cpuMs)) {
    const calls = statements
      .filter(({ service }) => service === name)
      .reduce((sum, statement) => sum + statement.calls, 0);
    print(
      [name.padEnd(24), ms.toFixed(2), (wakeUps[name] ?? 0).toFixed(1), calls.toFixed(1)].join(
        "  ",
      ),
    );
  }
  for (const { calls, ms, service, text } of statements.filter(({ calls }) => calls >= callsMin)) {
    print(
      `${calls.toFixed(2).padStart(8)}  ${ms.toFixed(3).padStart(7)} ms  ${service}: ${text.slice(0, 110)}`,
    );
  }
};
