import * as z from "zod";
import { type Relay, busMigrations, createRelay } from "@payment-links/bus";
import { type Service, cookiePolicy, createApp } from "@payment-links/http";
import { type Ask, createIdentity } from "@payment-links/identity";
import type { Ground } from "@payment-links/process";
import { type Loop, startLoop } from "@payment-links/runtime";
import type { Deps } from "./deps.ts";
import { createLastUses } from "./domain/last-uses.ts";
import { createIntrospect } from "./introspect.ts";
import { keepUses } from "./jobs/keep-uses.ts";
import { sweepEnded } from "./jobs/sweep-ended.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { ping } from "./store/ping.ts";

const name = "auth-keys";

/** Twice a minute, so that "last used" is true to within a minute at its worst. */
const keepUsesEveryMs = 30_000;
const sweepEveryMs = 60_000;

/** The service's own variables. */
export const authKeysConfig = z.object({
  /** Which prefix new API keys carry: `plk_live_` or `plk_test_`. */
  API_KEY_MODE: z.enum(["live", "test"]).default("live"),
});
export type AuthKeysConfig = z.output<typeof authKeysConfig>;

/** The service's own schema and the files that make it. */
export const authKeysMigration = {
  schema: "auth_keys",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates auth-keys: accounts, their handles and wallets, and the credentials that act for them.
 * `ask` is its introspection without HTTP, for services of the same process; the ground's own `ask` is
 * not used. Nothing runs before `start`.
 */
export const createAuthKeys = (ground: Ground, config: AuthKeysConfig): Service & { ask: Ask } => {
  const { bus, clock, databaseUrl, log, metrics, pool } = ground;
  const counters = createCounters(metrics);
  const uses = { apiKeyUses: createLastUses(), sessionUses: createLastUses() };
  const introspect = createIntrospect({ pool, clock, counters, ...uses });
  let relay: Relay | undefined;
  let loops: Loop[] = [];
  const deps: Deps = {
    pool,
    clock,
    log,
    counters,
    introspect,
    ...uses,
    catalogue: ground.catalogue,
    baseUrl: ground.baseUrl,
    checkoutUrl: ground.checkoutUrl,
    apiKeyMode: config.API_KEY_MODE,
    cookie: cookiePolicy(ground.baseUrl),
    identity: createIdentity({ ask: introspect, clock, metrics, log }),
    wakeRelay: () => relay?.wake(),
  };
  return {
    name,
    metrics,
    ask: introspect,
    app: createConsoleApp(ground, deps),
    internalRoutes: internalRoutes(deps),
    isReady: () => ping(pool),
    start: async () => {
      relay = createRelay({ databaseUrl, bus, service: name, metrics, log, clock });
      loops = startJobs(deps);
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await keepUses(deps).catch((error: unknown) => {
        log.warn({ err: error }, "the last uses of keys and sessions could not be written");
      });
      await relay?.stop();
    },
  };
};

const createConsoleApp = (ground: Ground, deps: Deps) =>
  createApp({
    routes: publicRoutes(deps),
    gate: {
      limiter: ground.limiter,
      limits: ground.limits,
      identity: deps.identity,
      cookie: deps.cookie,
    },
    trustedProxies: ground.trustedProxies,
    log: ground.log,
    metrics: ground.metrics,
  });

const startJobs = (deps: Deps): Loop[] => {
  const { clock, log } = deps;
  return [
    startLoop({
      name: "last uses",
      clock,
      log,
      waitMs: keepUsesEveryMs,
      run: () => keepUses(deps),
    }),
    startLoop({
      name: "ended sessions",
      clock,
      log,
      waitMs: sweepEveryMs,
      run: () => sweepEnded(deps),
    }),
  ];
};
