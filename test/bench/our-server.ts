import { authKeysConfig, createAuthKeys } from "@payment-links/auth-keys";
import { createLocalBus } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { createIngress } from "@payment-links/deploy/ingress";
import { serve, serveConfig } from "@payment-links/http";
import { createLinksApi, linksApiConfig } from "@payment-links/links-api";
import { openPool } from "@payment-links/postgres";
import type { Ground } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import {
  createStopList,
  openLog,
  openMetrics,
  openTracing,
  readConfig,
  stopOnSignal,
  systemClock,
} from "@payment-links/runtime";
import { withStaticPages } from "./static-pages.ts";

// links-api as it is, relay and jobs included, with auth-keys beside it to answer who is calling.
// Limits are counted in process and too high to refuse anything. Nobody listens on the bus.
const { env } = process;
const log = openLog({ service: "bench", level: "warn" });
const stopList = createStopList();
stopOnSignal(stopList, log);
const isTraced = env["OTEL_EXPORTER_OTLP_ENDPOINT"] !== undefined;
stopList.add("tracing", await openTracing("bench", isTraced));
const limit = { tokensPerSecond: 900_000, burst: 900_000 };
const baseUrl = `http://127.0.0.1:${env["PORT"] ?? ""}`;

const openGround = async (name: string, databaseUrl: string): Promise<Ground> => {
  const pool = await openPool({
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
    ask: () => Promise.reject(new Error("auth-keys asks itself")),
    askSolana: () => Promise.reject(new Error("nobody follows a chain")),
    askUsedAddresses: () => Promise.reject(new Error("nobody follows a chain")),
    catalogue: openCatalogue(),
    clock: systemClock,
    log,
    metrics: openMetrics(name),
    baseUrl,
    checkoutUrl: baseUrl,
  };
};

const authKeys = createAuthKeys(
  await openGround("auth-keys", env["AUTH_KEYS_URL"] ?? ""),
  readConfig(authKeysConfig, {}),
);
const ground = await openGround("links-api", env["LINKS_API_URL"] ?? "");
// Payers are told how to pay; nobody follows the chain.
const linksApi = createLinksApi(
  { ...ground, ask: authKeys.ask },
  readConfig(linksApiConfig, { ...env, SETTLEMENT_CHAINS: "8453" }),
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
await serve({
  config: readConfig(serveConfig, env),
  app: withStaticPages(ingress),
  services: [authKeys, linksApi],
  trustedProxies: [],
  stopList,
  clock: systemClock,
  log,
});
process.stdout.write("listening\n");
