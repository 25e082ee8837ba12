// settlement-listener as a program that a test can kill, with all its settings in the environment.
// Its bus is always away, so its events stay in the outbox for the next process.
import type { Bus } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { openPool } from "@payment-links/postgres";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { openLog, openMetrics, readConfig, systemClock } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
} from "@payment-links/settlement-listener";

const name = "settlement-listener";
const plenty = { tokensPerSecond: 1_000_000, burst: 1_000_000 };
const databaseUrl = process.env["DATABASE_URL"] ?? "";

const log = openLog({ service: name, level: "warn" });
const pool = await openPool({ url: databaseUrl, applicationName: name, connectionsMax: 8, log });
const away = () => Promise.reject(new Error("the bus is away"));
const bus: Bus = {
  sendTimeoutMs: 0,
  pollMs: 1_000,
  publish: away,
  subscribe: async () => ({ stop: async () => undefined }),
  close: async () => undefined,
};
const ground = {
  pool,
  databaseUrl,
  bus,
  log,
  clock: systemClock,
  metrics: openMetrics(name),
  limiter: createLocalLimiter({ clock: systemClock }),
  limits: { perKey: plenty, perAddress: plenty },
  trustedProxies: [],
  ask: away,
  askSolana: away,
  askUsedAddresses: away,
  catalogue: openCatalogue(process.env["CATALOGUE_FILE"]),
  baseUrl: "http://127.0.0.1",
  checkoutUrl: "http://127.0.0.1",
};
const service = createSettlementListener(ground, readConfig(settlementListenerConfig, process.env));
await service.start();
process.stdout.write("listening\n");
