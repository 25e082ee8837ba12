import type { Pool } from "@payment-links/postgres";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { SlotLimits } from "../domain/schedule/slots.ts";
import type { HostOverrides } from "../guard/host-overrides.ts";
import type { Resolve } from "../guard/resolver.ts";
import { countPending, listWaitingEndpoints } from "../store/deliveries.ts";
import { createDeadlines } from "./attempt/deadlines.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { makeAttempt } from "./attempt/make-attempt.ts";
import { type Dispatcher, startDispatcher } from "./start-dispatcher.ts";
import type { Targets } from "./targets.ts";
import { createTransport } from "./attempt/transport.ts";

type WebhookDeliveryOptions = SlotLimits & {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  resolve: Resolve;
  overrides: HostOverrides;
  overrideCa?: string | undefined;
  targets: Targets;
  headerPrefix: string;
  schedule: RetrySchedule;
  random: () => number;
  timeoutMs: number;
};

const pendingCountedMax = 10_000;

/** Starts webhook delivery: the dispatcher with its connections, secrets and metrics. */
export const startWebhookDelivery = (options: WebhookDeliveryOptions): Dispatcher => {
  const { pool, clock, log, headerPrefix, timeoutMs, overrideCa } = options;
  const transport = createTransport({
    resolve: options.resolve,
    clock,
    overrides: options.overrides,
    connectionsMax: options.slotsMax,
    connectTimeoutMs: timeoutMs,
    ...(overrideCa === undefined ? {} : { overrideCa }),
  });
  const deadlines = createDeadlines(clock, timeoutMs);
  const attemptOptions = { transport, clock, log, deadlines, headerPrefix };
  const metrics = createDeliveryMetrics({
    metrics: options.metrics,
    clock,
    log,
    countPending: () => countPending(pool, { limit: pendingCountedMax }),
    findOldestDue: async () => {
      const [earliestEndpoint] = await listWaitingEndpoints(pool, { limit: 1 });
      return earliestEndpoint?.dueAt ?? null;
    },
  });
  const dispatcher = startDispatcher({
    ...options,
    metrics,
    makeAttempt: (attempt) => metrics.trackInProgress(() => makeAttempt(attemptOptions, attempt)),
  });
  return {
    ...dispatcher,
    stop: async () => {
      await dispatcher.stop();
      await transport.close();
    },
  };
};
