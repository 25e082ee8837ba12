import { type OnEnd, round } from "../bench/harness.ts";
import { callEvenly, warmUp } from "../bench/load.ts";
import { createOpenLinks, createPayNext, startShop } from "../bench/payments.ts";
import { percentile } from "../rig/percentile.ts";
import { type Cost, createMeters } from "./meters.ts";

/** The cost of one payment at a rate, from its notice to its webhook. Includes the idle cost. */
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

/** Measures payments at one rate after another. Uses one system without tracing. */
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
    await warmUp(payNext, { perSecond, stepSeconds: warmUpStepSeconds });
    const count = secondsPerRate * perSecond;
    const [endMeters, startedAt] = [await startMeters(), performance.now()];
    const durationsMs = await callEvenly(payNext, { count, perSecond });
    const seconds = (performance.now() - startedAt) / 1_000;
    const cost = await endMeters(count);
    costs.push({
      perSecond,
      deliveredPerSecond: round(count / seconds),
      p50Ms: round(percentile(durationsMs, 0.5)),
      p99Ms: round(percentile(durationsMs, 0.99)),
      totalMs: round(Object.values(cost.cpuMs).reduce((sum, ms) => sum + ms, 0)),
      ...cost,
    });
  }
  return costs;
};
