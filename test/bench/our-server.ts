import { authKeysConfig, createAuthKeys } from "@payment-links/auth-keys";
import { createLocalBus } from "@payment-links/bus";
import { loadCatalogue } from "@payment-links/contracts";
import { createIngress } from "@payment-links/deploy/ingress";
import { startListeners, serveConfig } from "@payment-links/http";
import { createLinksApi, linksApiConfig } from "@payment-links/links-api";
import { connectPool } from "@payment-links/postgres";
import type { ServiceContext } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import {
  createStopList,
  createLog,
  createMetrics,
  parseConfig,
  stopOnSignal,
  systemClock,
} from "@payment-links/runtime";
import { withStaticPages } from "./static-pages.ts";

// Runs links-api unchanged, including its relay and jobs, and auth-keys, which identifies callers.
// The rate limiter runs in the process, with limits that are too high to reject requests. The bus
// has no consumers.
const { env } = process;
const log = createLog({ service: "bench", level: "warn" });
const stopList = createStopList();
stopOnSignal(stopList, log);
const limit = { tokensPerSecond: 900_000, burst: 900_000 };
const baseUrl = `http://127.0.0.1:${env["PORT"] ?? ""}`;

const createContext = async (name: string, databaseUrl: string): Promise<ServiceContext> => {
  const pool = await connectPool({
    url: databaseUrl,
    applicationName: name,
    connectionsMax: Number(env["CONNECTIONS"]),
    log,
  });
  return {
    pool,
    databaseUrl,
    bus: createLocalBus({ groups: [] }),
    limiter: createLocalLimiter({ clock: systemClock }),
    limits: { perKey: limit, perAddress: limit },
    trustedProxies: [],
    requestIntrospection: () => Promise.reject(new Error("auth-keys introspects itself")),
    fetchSolanaAccountState: () => Promise.reject(new Error("the bench watches no chain")),
    fetchUsedAddresses: () => Promise.reject(new Error("the bench watches no chain")),
    sendReceipt: () => Promise.reject(new Error("the bench sends no email")),
    catalogue: loadCatalogue(),
    clock: systemClock,
    log,
    metrics: createMetrics(name),
    baseUrl,
    checkoutUrl: baseUrl,
  };
};

const authKeys = createAuthKeys(
  await createContext("auth-keys", env["AUTH_KEYS_URL"] ?? ""),
  parseConfig(authKeysConfig, {}),
);
const linksApiContext = await createContext("links-api", env["LINKS_API_URL"] ?? "");
// Payers get payment instructions, but no watcher scans the chain.
const linksApi = createLinksApi(
  { ...linksApiContext, requestIntrospection: authKeys.requestIntrospection },
  parseConfig(linksApiConfig, { ...env, SETTLEMENT_CHAINS: "8453" }),
);
for (const service of [authKeys, linksApi]) {
  stopList.add(service.name, () => service.stop());
  await service.start();
}
const ingress = createIngress({
  "auth-keys": authKeys.app,
  "links-api": linksApi.app,
  "settlement-listener": linksApi.app,
  "webhook-dispatcher": linksApi.app,
});
await startListeners({
  config: parseConfig(serveConfig, env),
  app: withStaticPages(ingress),
  services: [authKeys, linksApi],
  trustedProxies: [],
  stopList,
  clock: systemClock,
  log,
});
process.stdout.write("listening\n");
