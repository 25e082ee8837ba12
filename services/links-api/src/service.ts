import {
  type Consumer,
  type Relay,
  busMigrations,
  createRelay,
  startConsumer,
} from "@payment-links/bus";
import { type Route, type Service, cookiePolicy, createApp } from "@payment-links/http";
import { createIdentity } from "@payment-links/identity";
import type { Ground } from "@payment-links/process";
import type { Loop } from "@payment-links/runtime";
import { type LinksApiConfig, readSettlementChains } from "./config.ts";
import { createDeps } from "./create-deps.ts";
import { reactions } from "./events/reactions.ts";
import { startExpiry } from "./jobs/expire-links.ts";
import { startForgetting } from "./jobs/forget-idempotency-keys.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { probeLinks } from "./store/links.ts";

const name = "links-api";

export { linksApiConfig } from "./config.ts";

/** The service's own schema and the files that make it. */
export const linksApiMigration = {
  schema: "links_api",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates links-api: the public API, the console's links, the pages, and the payments that count.
 * Nothing runs before `start`.
 */
export const createLinksApi = (ground: Ground, config: LinksApiConfig): Service => {
  const { bus, clock, databaseUrl, log, metrics, pool } = ground;
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  let jobs: readonly Loop[] = [];
  const deps = createDeps(ground, {
    group: name,
    settlementChains: readSettlementChains(config, ground.catalogue),
    wakeRelay: () => relay?.wake(),
  });
  const routes = publicRoutes(deps);
  return {
    name,
    metrics,
    app: createPublicApp(ground, routes),
    publicRoutes: routes,
    internalRoutes: internalRoutes(deps),
    isReady: async () => {
      await probeLinks(pool);
      return true;
    },
    start: async () => {
      relay = createRelay({ databaseUrl, bus, service: name, metrics, log, clock });
      jobs = [startExpiry(deps), startForgetting(deps)];
      consumer = await startConsumer({
        bus,
        pool,
        group: name,
        reactions: reactions(deps),
        metrics,
        log,
        clock,
        afterCommit: deps.wakeRelay,
      });
    },
    stop: async () => {
      await consumer?.stop();
      await Promise.all(jobs.map((job) => job.stop()));
      await relay?.stop();
    },
  };
};

const createPublicApp = (ground: Ground, routes: readonly Route[]) => {
  const { ask, baseUrl, clock, limiter, limits, log, metrics, trustedProxies } = ground;
  return createApp({
    routes,
    gate: {
      limiter,
      limits,
      identity: createIdentity({ ask, clock, metrics, log }),
      cookie: cookiePolicy(baseUrl),
    },
    trustedProxies,
    log,
    metrics,
  });
};
