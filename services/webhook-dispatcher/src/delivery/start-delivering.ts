import type { Pool } from "@payment-links/postgres";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import type { HostOverrides } from "../guard/host-overrides.ts";
import type { Resolve } from "../guard/resolver.ts";
import type { UrlRules } from "../guard/webhook-url.ts";
import { countPending, listWaitingEndpoints } from "../store/deliveries.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { type Dispatcher, startDispatcher } from "./start-dispatcher.ts";
import { makeAttempt } from "./make-attempt.ts";
import type { SlotBounds } from "./slots.ts";
import { createTargets } from "./targets.ts";
import { openTransport } from "./transport.ts";

type DeliveringOptions = SlotBounds & {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  rules: UrlRules;
  resolve: Resolve;
  overrides: HostOverrides;
  overrideCa?: string | undefined;
  secretKeys: SecretKeys;
  headerPrefix: string;
  schedule: RetrySchedule;
  random: () => number;
  timeoutMs: number;
};

const pendingCountedMax = 10_000;

/** Starts to deliver: the dispatcher with its connections, secrets and metrics. */
export const startDelivering = (options: DeliveringOptions): Dispatcher => {
  const { pool, clock, log, rules, headerPrefix, timeoutMs, overrideCa } = options;
  const transport = openTransport({
    resolve: options.resolve,
    clock,
    overrides: options.overrides,
    connectionsMax: options.slotsMax,
    connectTimeoutMs: timeoutMs,
    ...(overrideCa === undefined ? {} : { overrideCa }),
  });
  const attempting = { transport, clock, log, rules, headerPrefix, timeoutMs };
  const metrics = createDeliveryMetrics({
    metrics: options.metrics,
    clock,
    log,
    countPending: () => countPending(pool, { limit: pendingCountedMax }),
    findOldestDue: async () => {
      const [first] = await listWaitingEndpoints(pool, { limit: 1 });
      return first?.dueAt ?? null;
    },
  });
  const dispatcher = startDispatcher({
    ...options,
    metrics,
    targets: createTargets({ keys: options.secretKeys, log }),
    makeAttempt: (attempt) => makeAttempt(attempting, attempt),
  });
  return {
    wake: () => dispatcher.wake(),
    stop: async () => {
      await dispatcher.stop();
      await transport.close();
    },
  };
};
