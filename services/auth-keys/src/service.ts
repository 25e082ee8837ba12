import { type Relay, busMigrations, createRelay } from "@payment-links/bus";
import { type Route, type Service, cookiePolicy, createApp } from "@payment-links/http";
import { type Ask, type Identity, createIdentity } from "@payment-links/identity";
import type { Ground } from "@payment-links/process";
import { type Loop, startLoop } from "@payment-links/runtime";
import type { AuthKeysConfig } from "./config.ts";
import type { Deps } from "./deps.ts";
import { createLastUses } from "./domain/last-uses.ts";
import { createIntrospect } from "./introspect.ts";
import { type OidcIssuer, createOidcIssuer } from "./issuer/oidc-issuer.ts";
import { keepUses } from "./jobs/keep-uses.ts";
import { sweepEnded } from "./jobs/sweep-ended.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, oidcCallbackPath, publicRoutes } from "./routes.ts";
import { ping } from "./store/ping.ts";

const name = "auth-keys";

/** Twice a minute, so that "last used" is true to within a minute at its worst. */
const keepUsesEveryMs = 30_000;
const sweepEveryMs = 60_000;

export { authKeysConfig } from "./config.ts";

/** The service's own schema and the files that make it. */
export const authKeysMigration = {
  schema: "auth_keys",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates auth-keys: accounts, their handles and wallets, and the credentials that act for them.
 * `ask` is its introspection without HTTP, for services of the same process; the ground's own `ask`
 * is not used. Nothing runs before `start`.
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
    apiKeyMode: config.apiKeyMode,
    oidc: openOidc(ground, config),
    cookie: cookiePolicy(ground.baseUrl),
    identity: alwaysAsking(createIdentity({ ask: introspect, clock, metrics, log })),
    wakeRelay: () => relay?.wake(),
  };
  const routes = publicRoutes(deps);
  return {
    name,
    metrics,
    ask: introspect,
    app: createConsoleApp(ground, deps, routes),
    publicRoutes: routes,
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

/**
 * Here the question costs no more than the answer kept would save: a session that any replica ended
 * is dead at once.
 */
const alwaysAsking = (identity: Identity): Identity => ({
  ...identity,
  bySession: (token) => {
    identity.forgetSession(token);
    return identity.bySession(token);
  },
});

const openOidc = (
  { baseUrl, clock, log }: Ground,
  { oidc: client }: AuthKeysConfig,
): OidcIssuer | undefined => {
  const redirectUri = `${baseUrl}${oidcCallbackPath}`;
  return client && createOidcIssuer({ client, redirectUri, clock, log });
};

const createConsoleApp = (ground: Ground, deps: Deps, routes: readonly Route[]) =>
  createApp({
    routes,
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
