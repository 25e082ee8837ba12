import * as z from "zod";
import { type RepublishSource, createLocalBus, republishPage } from "@payment-links/bus";
import { loadCatalogue } from "@payment-links/contracts";
import { type Service, createInternalApp, listen } from "@payment-links/http";
import { type Migration, type Pool, connectPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createFakeClock, createLog, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { sql } from "slonik";
import type { ServiceContext } from "../service-context.ts";

export { assertDocumentedResponse } from "./assert-documented-response.ts";

const host = "127.0.0.1";
const connectionsMax = 16;
const unlimitedRate = { tokensPerSecond: 1_000_000, burst: 1_000_000 };

/** As long as the pause between two pages, or longer. */
const republishPauseMs = 1_000;

type TestContextOptions = {
  name: string;
  migration: Pick<Migration, "schema" | "folders">;
  /** Where the clock stands at first. */
  now?: Date;
  /** What a test wants otherwise. */
  overrides?: Partial<ServiceContext>;
};

/**
 * What a service under test stands on: a database of its own, a bus within the process, limits that
 * nobody reaches, and a clock that stands still. Nobody can be asked who calls.
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
  const pool = await connectPool({ url: databaseUrl, applicationName: name, connectionsMax, log });
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
    requestIntrospection: () => Promise.reject(new Error(`${name} asks nobody who calls`)),
    fetchSolanaAccountState: async () => undefined,
    fetchUsedAddresses: () => Promise.reject(new Error(`${name} asks nobody about addresses`)),
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
    /** Tells all again that was asked for, as a started service does. */
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
/** Each may open a connection, and keep it. */
const concurrentCalls = 4;

/** How many sessions the database begins during 200 calls. */
const countNewSessions = async (pool: Pool, call: () => Promise<void>): Promise<number> => {
  const sessionsBefore = await countSessions(pool);
  for (let startedCalls = 0; startedCalls < callCount; startedCalls += concurrentCalls) {
    await Promise.all(Array.from({ length: concurrentCalls }, call));
  }
  return (await countSessions(pool)) - sessionsBefore;
};

const CountRow = z.object({ count: z.number() });

/** How many sessions the database has ever begun. One that ended is counted once it is gone. */
const countSessions = async (pool: Pool): Promise<number> => {
  await waitUntil("sessions that have ended are gone", async () => {
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

/** Serves both faces of a service on free ports of loopback. */
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
