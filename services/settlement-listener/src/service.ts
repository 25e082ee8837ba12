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
import { type Loop, startLoop } from "@payment-links/runtime";
import type { SettlementListenerConfig } from "./config.ts";
import type { Deps } from "./deps.ts";
import { linkReactions } from "./events/link-reactions.ts";
import { type Chains, openChains } from "./evm/open-chains.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { readBacklog } from "./store/payments.ts";
import { ping } from "./store/ping.ts";

export { type SettlementListenerConfig, settlementListenerConfig } from "./config.ts";

const name = "settlement-listener";
const measureEveryMs = 15_000;

/** The service's own schema and the files that make it. */
export const settlementListenerMigration = {
  schema: "settlement_listener",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates settlement-listener: it stores what providers say of payments and what it sees on chains,
 * matches them to links, and tells of them on `settlements.v1`. Nothing runs before `start`. Throws
 * ConfigError for a chain on which the catalogue knows no way of being paid.
 */
export const createSettlementListener = (
  ground: Ground,
  config: SettlementListenerConfig,
): Service => {
  const { providers } = config;
  const { bus, catalogue, clock, log, metrics, pool } = ground;
  const reactions = linkReactions(clock);
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  let measuring: Loop | undefined;
  const wakeRelay = () => relay?.wake();
  const chains: Chains = openChains(ground, config, wakeRelay);
  const deps: Deps = {
    pool,
    catalogue,
    clock,
    log,
    providers,
    wakeRelay,
    chainIds: chains.ids,
    watches: chains.watches,
    counters: createCounters(metrics),
    replayDeadLetters: () =>
      replayDeadLetters({ pool, group: name, reactions, afterCommit: wakeRelay }),
  };
  const routes = publicRoutes(deps);
  return {
    name,
    metrics,
    app: createNoticeApp(ground, routes),
    publicRoutes: routes,
    internalRoutes: internalRoutes(deps),
    isReady: () => ping(pool),
    start: async () => {
      const { databaseUrl } = ground;
      relay = createRelay({ databaseUrl, bus, service: name, metrics, log, clock });
      measuring = startLoop({
        name: "settlement backlog",
        clock,
        log,
        waitMs: measureEveryMs,
        run: async () => deps.counters.measured(await readBacklog(pool), clock.now()),
      });
      consumer = await startConsumer({
        bus,
        pool,
        group: name,
        reactions,
        metrics,
        log,
        clock,
        afterCommit: wakeRelay,
      });
      chains.start();
    },
    stop: async () => {
      await chains.stop();
      await consumer?.stop();
      await measuring?.stop();
      await relay?.stop();
    },
  };
};

const createNoticeApp = (ground: Ground, routes: readonly Route[]) => {
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
