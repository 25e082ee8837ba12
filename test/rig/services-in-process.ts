import { authKeysConfig, authKeysMigration, createAuthKeys } from "@payment-links/auth-keys";
import { type ServiceName, createIngress } from "@payment-links/deploy/ingress";
import { createInternalApp, listen } from "@payment-links/http";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import type { ServiceContext } from "@payment-links/process";
import { createTestContext } from "@payment-links/process/testing";
import { parseConfig } from "@payment-links/runtime";
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
import { sealingKeyEntry } from "./shop-env.ts";

const host = "127.0.0.1";

/**
 * The external dependencies of these tests. Every host name resolves to the same public address.
 */
const externalDependencies = { resolve: () => Promise.resolve(["93.184.216.34"]), random: () => 0 };

/**
 * Starts the four services in this process behind one origin, with real databases and one stopped
 * clock. The services do not run background jobs and do not deliver events, so each route responds
 * only from its own service's data. Rate limits, if given, apply to all services except auth-keys.
 * A browser needs `baseUrl`, because the page's origin contains the port.
 */
export const startServicesInProcess = async (
  overrides: Partial<Pick<ServiceContext, "limits" | "baseUrl" | "catalogue">> = {},
  additionalEnv: Readonly<Record<string, string>> = {},
) => {
  const { baseUrl, catalogue } = overrides;
  const env = { WEBHOOK_SECRET_KEYS: sealingKeyEntry, ...additionalEnv };
  const authContext = await createTestContext({
    name: "auth-keys",
    migration: authKeysMigration,
    overrides: { ...(baseUrl && { baseUrl }), ...(catalogue && { catalogue }) },
  });
  const authKeys = createAuthKeys(authContext.context, parseConfig(authKeysConfig, env));
  const contextOverrides = {
    clock: authContext.clock,
    requestIntrospection: authKeys.requestIntrospection,
    sendReceipt: authKeys.sendReceipt,
    ...overrides,
  };
  const linksContext = await createTestContext({
    name: "links-api",
    migration: linksApiMigration,
    overrides: contextOverrides,
  });
  const settlementsContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    overrides: contextOverrides,
  });
  const webhooksContext = await createTestContext({
    name: "webhook-dispatcher",
    migration: webhookDispatcherMigration,
    overrides: contextOverrides,
  });
  const services = {
    "auth-keys": authKeys,
    "links-api": createLinksApi(linksContext.context, parseConfig(linksApiConfig, env)),
    "settlement-listener": createSettlementListener(
      settlementsContext.context,
      parseConfig(settlementListenerConfig, env),
    ),
    "webhook-dispatcher": createWebhookDispatcher(
      webhooksContext.context,
      parseConfig(webhookDispatcherConfig, env),
      externalDependencies,
    ),
  };
  const handler = createIngress({
    "auth-keys": services["auth-keys"].app,
    "links-api": services["links-api"].app,
    "settlement-listener": services["settlement-listener"].app,
    "webhook-dispatcher": services["webhook-dispatcher"].app,
  });
  const port = baseUrl === undefined ? 0 : Number(new URL(baseUrl).port);
  const publicListener = await listen({ handler, host, port, portVariable: "PORT" });
  const internalApp = createInternalApp({
    services: [authKeys],
    isDraining: () => false,
    hostNames: [host],
    log: authContext.context.log,
  });
  const internalListener = await listen({
    handler: internalApp,
    host,
    port: 0,
    portVariable: "INTERNAL_PORT",
  });
  const contexts = {
    "auth-keys": authContext,
    "links-api": linksContext,
    "settlement-listener": settlementsContext,
    "webhook-dispatcher": webhooksContext,
  };
  return {
    baseUrl: `http://${host}:${publicListener.port}`,
    internalUrl: `http://${host}:${internalListener.port}`,
    clock: authContext.clock,
    authKeysContext: authContext.context,
    /** Returns the superuser's connection URL of a service's database. */
    getAdminUrl: (service: ServiceName) => contexts[service].database.adminUrl,
    /** Returns the services' log lines. */
    logLines: () => Object.values(contexts).flatMap(({ logLines }) => logLines),
    publicRoutes: Object.values(services).flatMap(({ publicRoutes }) => publicRoutes),
    internalRoutes: Object.values(services).flatMap(({ internalRoutes }) => internalRoutes),
    close: async () => {
      await Promise.all([publicListener.close(), internalListener.close()]);
      await Promise.all(Object.values(services).map((service) => service.stop()));
      await Promise.all(Object.values(contexts).map((testContext) => testContext.close()));
    },
  };
};
