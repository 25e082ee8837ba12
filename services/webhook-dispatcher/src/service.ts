import {
  type Consumer,
  type Relay,
  busMigrations,
  createRelay,
  replayDeadLetters,
  startConsumer,
} from "@payment-links/bus";
import { type Route, type Service, cookiePolicy, createApp } from "@payment-links/http";
import { createIdentity } from "@payment-links/identity";
import type { Ground } from "@payment-links/process";
import { ConfigError, type Loop, type Metrics } from "@payment-links/runtime";
import { Counter } from "prom-client";
import type { WebhookDispatcherConfig } from "./config.ts";
import { startDelivering } from "./delivery/start-delivering.ts";
import type { Dispatcher } from "./delivery/start-dispatcher.ts";
import { createTargets } from "./delivery/targets.ts";
import type { Deps } from "./deps.ts";
import { linkReactions } from "./events/link-reactions.ts";
import { type Resolve, createDnsResolver } from "./guard/resolver.ts";
import { type UrlRules, hostOf } from "./guard/webhook-url.ts";
import { startKeepingLog } from "./jobs/keep-log.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { listSecretKeyNames } from "./store/endpoints.ts";
import { ping } from "./store/ping.ts";

export { type WebhookDispatcherConfig, webhookDispatcherConfig } from "./config.ts";

const name = "webhook-dispatcher";
const resolveTimeoutMs = 5_000;

/** The service's own schema and the files that make it. */
export const webhookDispatcherMigration = {
  schema: "webhook_dispatcher",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/** What lies outside of the house; tests bring their own. */
export type Outside = {
  resolve: Resolve;
  /** From 0 to 1: spreads retries. */
  random: () => number;
  /** A certificate authority that overridden https origins may use besides the public ones. */
  overrideCa?: string;
};

/**
 * Creates webhook-dispatcher: it keeps endpoints and their secrets, turns events of links into
 * deliveries, and sends these until they are answered or given up. Nothing runs before `start`.
 */
export const createWebhookDispatcher = (
  ground: Ground,
  config: WebhookDispatcherConfig,
  outside: Outside = openOutside(),
): Service => {
  const { bus, clock, databaseUrl, log, metrics, pool } = ground;
  const rules = rulesOf(ground, config);
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  let dispatcher: Dispatcher | undefined;
  let keepingLog: Loop | undefined;
  const targets = createTargets({ keys: config.secretKeys, rules, log });
  const afterCommit = () => relay?.wake();
  const reactions = linkReactions({
    clock,
    targets,
    dispatcher: () => dispatcher,
    firstWaitMs: config.schedule[0] ?? 0,
    countVersionJump: createJumpCounter(metrics),
  });
  const deps: Deps = {
    pool,
    clock,
    log,
    rules,
    resolve: outside.resolve,
    secretKeys: config.secretKeys,
    leaveEndpoint: (endpointId) => dispatcher?.leave(endpointId),
    replayDeadLetters: () => replayDeadLetters({ pool, group: name, reactions, afterCommit }),
  };
  const routes = publicRoutes(deps);
  return {
    name,
    metrics,
    app: createConsoleApp(ground, routes),
    publicRoutes: routes,
    internalRoutes: internalRoutes(deps),
    isReady: () => ping(pool),
    start: async () => {
      await refuseUnknownKeys(ground, config);
      relay = createRelay({ databaseUrl, bus, service: name, metrics, log, clock });
      const delivering = { ...config, ...outside, pool, clock, log, metrics, targets };
      dispatcher = startDelivering(delivering);
      keepingLog = startKeepingLog({ ...config, pool, clock, log });
      const group = name;
      consumer = await startConsumer({
        bus,
        pool,
        group,
        reactions,
        metrics,
        log,
        clock,
        afterCommit,
        pace: async () => dispatcher?.pace(),
      });
    },
    stop: async () => {
      // At once: while a consumer leaves its group, no further attempt may begin.
      const stopped = dispatcher?.stop();
      await Promise.all([consumer?.stop(), keepingLog?.stop(), relay?.stop()]);
      await stopped;
    },
  };
};

const openOutside = (): Outside => ({
  resolve: createDnsResolver({ timeoutMs: resolveTimeoutMs }),
  random: Math.random,
});

const rulesOf = (
  { baseUrl, checkoutUrl }: Ground,
  { overrides }: WebhookDispatcherConfig,
): UrlRules => ({
  overriddenHosts: new Set(overrides.keys()),
  ownHosts: new Set([baseUrl, checkoutUrl].map((origin) => hostOf(new URL(origin)))),
});

/** A key that was taken away would make its endpoints fail one by one, and quietly. */
const refuseUnknownKeys = async (
  { pool }: Ground,
  { secretKeys }: WebhookDispatcherConfig,
): Promise<void> => {
  const used = await listSecretKeyNames(pool);
  const unknown = used.filter((keyName) => !secretKeys.byName.has(keyName));
  if (unknown.length === 0) return;
  throw new ConfigError(
    `WEBHOOK_SECRET_KEYS: secrets are sealed under ${unknown.join(", ")}, which is not among the keys`,
  );
};

const createJumpCounter = (metrics: Metrics) => {
  const jumps = new Counter({
    name: "payment_links_link_version_jumps_total",
    help: "Records of a link whose version was not the next one",
    registers: [metrics],
  });
  return () => jumps.inc();
};

const createConsoleApp = (ground: Ground, routes: readonly Route[]) => {
  const { ask, clock, limiter, limits, log, metrics, trustedProxies } = ground;
  return createApp({
    routes,
    gate: {
      limiter,
      limits,
      identity: createIdentity({ ask, clock, metrics, log }),
      cookie: cookiePolicy(ground.baseUrl),
    },
    trustedProxies,
    log,
    metrics,
  });
};
