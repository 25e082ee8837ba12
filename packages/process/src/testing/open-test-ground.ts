import * as z from "zod";
import { type Republishing, createLocalBus, republishPage } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { type Service, createInternalApp, listen } from "@payment-links/http";
import { type Migration, type Pool, openPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createHeldClock, openLog, openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { sql } from "slonik";
import type { Ground } from "../ground.ts";

export { holdAnswer } from "./hold-answer.ts";

const host = "127.0.0.1";
const connectionsMax = 16;
const plenty = { tokensPerSecond: 1_000_000, burst: 1_000_000 };

/** As long as the pause between two pages, or longer. */
const republishPauseMs = 1_000;

type TestGroundOptions = {
  name: string;
  migration: Pick<Migration, "schema" | "folders">;
  /** Where the clock stands at first. */
  now?: Date;
  /** What a test wants otherwise. */
  change?: Partial<Ground>;
};

/**
 * What a service under test stands on: a database of its own, a bus within the process, limits that
 * nobody reaches, and a clock that stands still. Nobody can be asked who calls.
 */
export const openTestGround = async ({
  name,
  migration,
  now = new Date("2026-11-21T10:00:00.000Z"),
  change = {},
}: TestGroundOptions) => {
  const database = await createTestDatabase([migration]);
  const databaseUrl = database.urlOf(migration.schema);
  const logLines: string[] = [];
  const log = openLog(
    { service: name, level: "trace" },
    { write: (line) => void logLines.push(line) },
  );
  const pool = await openPool({ url: databaseUrl, applicationName: name, connectionsMax, log });
  const clock = createHeldClock(now);
  const bus = createLocalBus();
  const ground: Ground = {
    pool,
    databaseUrl,
    bus,
    clock,
    log,
    metrics: openMetrics(name),
    limiter: createLocalLimiter({ clock: change.clock ?? clock }),
    limits: { perKey: plenty, perAddress: plenty },
    trustedProxies: [],
    ask: () => Promise.reject(new Error(`${name} asks nobody who calls`)),
    askSolana: async () => undefined,
    askUsedAddresses: () => Promise.reject(new Error(`${name} asks nobody about addresses`)),
    catalogue: openCatalogue(),
    baseUrl: "http://127.0.0.1:8080",
    checkoutUrl: "https://pay.example",
    ...change,
  };
  return {
    bus,
    clock,
    database,
    ground,
    logLines,
    pool,
    /** Tells all again that was asked for, as a started service does. */
    republish: async (republishing: Republishing): Promise<void> => {
      while (!(await republishPage(pool, republishing, clock.now())).isEnded) {
        clock.advance(republishPauseMs);
      }
    },
    countSessionsOf: (call: () => Promise<void>) => countSessionsOf(pool, call),
    close: async () => {
      await bus.close();
      await pool.end();
      await database.drop();
    },
  };
};

const callsEach = 200;
/** Each may open a connection, and keep it. */
const callsAtOnce = 4;

/** How many sessions the database begins during 200 calls. */
const countSessionsOf = async (pool: Pool, call: () => Promise<void>): Promise<number> => {
  const before = await countSessions(pool);
  for (let made = 0; made < callsEach; made += callsAtOnce) {
    await Promise.all(Array.from({ length: callsAtOnce }, call));
  }
  return (await countSessions(pool)) - before;
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
export const serveForTest = async (service: Service, { log }: Pick<Ground, "log">) => {
  const open = await listen({ handler: service.app, host, port: 0, variable: "PORT" });
  const internalApp = createInternalApp({
    services: [service],
    isDraining: () => false,
    hostNames: [host],
    log,
  });
  const internal = await listen({ handler: internalApp, host, port: 0, variable: "INTERNAL_PORT" });
  return {
    publicUrl: `http://${host}:${open.port}`,
    internalUrl: `http://${host}:${internal.port}`,
    close: async () => {
      service.drain?.();
      await open.close();
      await internal.close();
    },
  };
};
