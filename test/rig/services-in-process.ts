import { authKeysConfig, authKeysMigration, createAuthKeys } from "@payment-links/auth-keys";
import { type ServiceName, createIngress } from "@payment-links/deploy/ingress";
import { createInternalApp, listen } from "@payment-links/http";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import type { Ground } from "@payment-links/process";
import { openTestGround } from "@payment-links/process/testing";
import { readConfig } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import {
  createWebhookDispatcher,
  webhookDispatcherConfig,
  webhookDispatcherMigration,
} from "@payment-links/webhook-dispatcher";
import { sealingKey } from "./shop-env.ts";

const host = "127.0.0.1";
const env = { WEBHOOK_SECRET_KEYS: sealingKey };

/** The outside world of these tests: every host name leads to one public address. */
const outside = { resolve: () => Promise.resolve(["93.184.216.34"]), random: () => 0 };

/**
 * The four services in this process behind one origin, over real databases, with one clock that
 * stands still. None is started, so no event travels: each route answers from its own service
 * alone. Limits, if given, apply to all services but auth-keys. A browser needs a port that its page's
 * origin names.
 */
export const openServicesInProcess = async (
  more: Partial<Pick<Ground, "limits" | "baseUrl">> = {},
) => {
  const { baseUrl } = more;
  const auth = await openTestGround({
    name: "auth-keys",
    migration: authKeysMigration,
    change: baseUrl === undefined ? {} : { baseUrl },
  });
  const authKeys = createAuthKeys(auth.ground, readConfig(authKeysConfig, env));
  const change = { clock: auth.clock, ask: authKeys.ask, ...more };
  const links = await openTestGround({ name: "links-api", migration: linksApiMigration, change });
  const settlements = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    change,
  });
  const webhooks = await openTestGround({
    name: "webhook-dispatcher",
    migration: webhookDispatcherMigration,
    change,
  });
  const services = {
    "auth-keys": authKeys,
    "links-api": createLinksApi(links.ground, readConfig(linksApiConfig, env)),
    "settlement-listener": createSettlementListener(
      settlements.ground,
      readConfig(settlementListenerConfig, env),
    ),
    "webhook-dispatcher": createWebhookDispatcher(
      webhooks.ground,
      readConfig(webhookDispatcherConfig, env),
      outside,
    ),
  };
  const handler = createIngress({
    "auth-keys": services["auth-keys"].app,
    "links-api": services["links-api"].app,
    "settlement-listener": services["settlement-listener"].app,
    "webhook-dispatcher": services["webhook-dispatcher"].app,
  });
  const port = baseUrl === undefined ? 0 : Number(new URL(baseUrl).port);
  const open = await listen({ handler, host, port, variable: "PORT" });
  const internalApp = createInternalApp({
    services: [authKeys],
    isDraining: () => false,
    hostNames: [host],
    log: auth.ground.log,
  });
  const internal = await listen({
    handler: internalApp,
    host,
    port: 0,
    variable: "INTERNAL_PORT",
  });
  const grounds = {
    "auth-keys": auth,
    "links-api": links,
    "settlement-listener": settlements,
    "webhook-dispatcher": webhooks,
  };
  return {
    baseUrl: `http://${host}:${open.port}`,
    internalUrl: `http://${host}:${internal.port}`,
    clock: auth.clock,
    /** The superuser's connection to a service's database. */
    adminUrlOf: (service: ServiceName) => grounds[service].database.adminUrl,
    /** What the services have written into their logs. */
    logLines: () => Object.values(grounds).flatMap(({ logLines }) => logLines),
    publicRoutes: Object.values(services).flatMap(({ publicRoutes }) => publicRoutes),
    internalRoutes: Object.values(services).flatMap(({ internalRoutes }) => internalRoutes),
    close: async () => {
      await Promise.all([open.close(), internal.close()]);
      await Promise.all(Object.values(services).map((service) => service.stop()));
      await Promise.all(Object.values(grounds).map((ground) => ground.close()));
    },
  };
};
