import * as z from "zod";
import { type RepublishSource, createLocalBus, republishPage } from "@payment-links/bus";
import { loadCatalogue } from "@payment-links/contracts";
import { type Service, createInternalApp, listen } from "@payment-links/http";
import { type Migration, type Pool, connectPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createFakeClock, createLog, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { sql } from "slonik";
import type { ServiceContext } from "../service-context.ts";

export { assertDocumentedResponse } from "./assert-documented-response.ts";

const host = "127.0.0.1";
const connectionsMax = 16;
const unlimitedRate = { tokensPerSecond: 1_000_000, burst: 1_000_000 };

/** At least as long as the pause between two pages of a republish. */
const republishPauseMs = 1_000;

type TestContextOptions = {
  name: string;
  migration: Pick<Migration, "schema" | "folders">;
  /** The initial time of the fake clock. */
  now?: Date;
  /** Dependencies that replace the defaults. */
  overrides?: Partial<ServiceContext>;
};

/**
 * Creates the dependencies of a service under test: its own database, an in-process bus,
 * practically unlimited rate limits and a fake clock. Introspection requests fail. Statements and
 * idle transactions have ample time, because a test can hold a transaction open.
 */
export const createTestContext = async ({
  name,
  migration,
  now = new Date("2026-11-21T10:00:00.000Z"),
  overrides = {},
}: TestContextOptions) => {
  const database = await createTestDatabase([migration]);
  const databaseUrl = database.getRoleUrl(migration.schema);
  const logLines: string[] = [];
  const log = createLog(
    { service: name, level: "trace" },
    { write: (line) => void logLines.push(line) },
  );
  const pool = await connectPool({
    url: databaseUrl,
    applicationName: name,
    connectionsMax,
    statementTimeoutMs: ampleTimeoutMs,
    log,
  });
  const clock = createFakeClock(now);
  const bus = createLocalBus();
  const context: ServiceContext = {
    pool,
    databaseUrl,
    bus,
    clock,
    log,
    metrics: createMetrics(name),
    limiter: createLocalLimiter({ clock: overrides.clock ?? clock }),
    limits: { perKey: unlimitedRate, perAddress: unlimitedRate },
    trustedProxies: [],
    requestIntrospection: () => Promise.reject(new Error(`${name} does not identify callers`)),
    fetchSolanaAccountState: async () => undefined,
    fetchUsedAddresses: () => Promise.reject(new Error(`${name} does not request used addresses`)),
    sendReceipt: () => Promise.reject(new Error(`${name} does not send receipts`)),
    catalogue: loadCatalogue(),
    baseUrl: "http://127.0.0.1:8080",
    checkoutUrl: "https://pay.example",
    ...overrides,
  };
  return {
    bus,
    clock,
    database,
    context,
    logLines,
    pool,
    /** Runs all requested republishes, as a started service does. */
    republish: async (source: RepublishSource): Promise<void> => {
      while (!(await republishPage(pool, source, clock.now())).isEnded) {
        clock.advance(republishPauseMs);
      }
    },
    countNewSessions: (call: () => Promise<void>) => countNewSessions(pool, call),
    close: async () => {
      await bus.close();
      await pool.end();
      await database.drop();
    },
  };
};

const callCount = 200;
/** Each concurrent call may open a connection and keep it. */
const concurrentCalls = 4;

/** Returns how many database sessions are started during 200 calls. */
const countNewSessions = async (pool: Pool, call: () => Promise<void>): Promise<number> => {
  const sessionsBefore = await countSessions(pool);
  for (let startedCalls = 0; startedCalls < callCount; startedCalls += concurrentCalls) {
    await Promise.all(Array.from({ length: concurrentCalls }, call));
  }
  return (await countSessions(pool)) - sessionsBefore;
};

const CountRow = z.object({ count: z.number() });

/**
 * Returns how many sessions have been started in the database so far. Waits for ended sessions
 * first, because Postgres counts a session only when it is gone.
 */
const countSessions = async (pool: Pool): Promise<number> => {
  await waitUntil("ended sessions are gone", async () => {
    const count = await pool.oneFirst(sql.type(CountRow)`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
    `);
    const { acquiredConnections, idleConnections } = pool.state();
    return count <= acquiredConnections + idleConnections;
  });
  return pool.oneFirst(sql.type(CountRow)`
    SELECT sessions::int AS count FROM pg_stat_database WHERE datname = current_database()
  `);
};

/** Starts the public and the internal listener of a service on free loopback ports. */
export const startTestListeners = async (
  service: Service,
  { log }: Pick<ServiceContext, "log">,
) => {
  const publicListener = await listen({
    handler: service.app,
    host,
    port: 0,
    portVariable: "PORT",
  });
  const internalApp = createInternalApp({
    services: [service],
    isDraining: () => false,
    hostNames: [host],
    log,
  });
  const internalListener = await listen({
    handler: internalApp,
    host,
    port: 0,
    portVariable: "INTERNAL_PORT",
  });
  return {
    publicUrl: `http://${host}:${publicListener.port}`,
    internalUrl: `http://${host}:${internalListener.port}`,
    close: async () => {
      service.drain?.();
      await publicListener.close();
      await internalListener.close();
    },
  };
};
