// Runs settlement-listener as a program that a test can kill. All settings are environment
// variables. The bus always fails, so events stay in the outbox for the next process.
import type { Bus } from "@payment-links/bus";
import { loadCatalogue } from "@payment-links/contracts";
import { connectPool } from "@payment-links/postgres";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createLog, createMetrics, parseConfig, systemClock } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
} from "@payment-links/settlement-listener";

const name = "settlement-listener";
const unlimitedRate = { tokensPerSecond: 1_000_000, burst: 1_000_000 };
const databaseUrl = process.env["DATABASE_URL"] ?? "";

const log = createLog({ service: name, level: "warn" });
const pool = await connectPool({ url: databaseUrl, applicationName: name, connectionsMax: 8, log });
const rejectAlways = () => Promise.reject(new Error("the bus is unavailable"));
const bus: Bus = {
  sendTimeoutMs: 0,
  pollMs: 1_000,
  publish: rejectAlways,
  subscribe: async () => ({ stop: async () => undefined }),
  close: async () => undefined,
};
const context = {
  pool,
  databaseUrl,
  bus,
  log,
  clock: systemClock,
  metrics: createMetrics(name),
  limiter: createLocalLimiter({ clock: systemClock }),
  limits: { perKey: unlimitedRate, perAddress: unlimitedRate },
  trustedProxies: [],
  requestIntrospection: rejectAlways,
  fetchSolanaAccountState: rejectAlways,
  fetchUsedAddresses: rejectAlways,
  catalogue: loadCatalogue(process.env["CATALOGUE_FILE"]),
  baseUrl: "http://127.0.0.1",
  checkoutUrl: "http://127.0.0.1",
};
const service = createSettlementListener(
  context,
  parseConfig(settlementListenerConfig, process.env),
);
await service.start();
process.stdout.write("listening\n");
