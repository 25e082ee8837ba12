import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { createMerchant } from "../rig/client.ts";
import { startBenchPostgres } from "./bench-postgres.ts";
import { startServer } from "./bench-servers.ts";
import { createFloorOutbox } from "./floor-statements.ts";
import type { OnEnd } from "./harness.ts";

/**
 * The number of connections of each database pool, including the pool of the bare loop. Two cores
 * can keep this many connections busy.
 */
export const poolSize = 4;

/** Creates a migrated database with the baseline's outbox, on a Postgres with durable settings. */
export const createLinkDatabase = async (onEnd: OnEnd) => {
  const postgres = await startBenchPostgres();
  onEnd(postgres.close);
  const database = await createTestDatabase([authKeysMigration, linksApiMigration]);
  onEnd(() => database.drop());
  await createFloorOutbox(database.adminUrl);
  return database;
};

export type LinkServers = Awaited<ReturnType<typeof startLinkServers>>;

/** Starts our server and the baseline. Each has its own process, and both share one database. */
export const startLinkServers = async (onEnd: OnEnd) => {
  const database = await createLinkDatabase(onEnd);
  const [oursPort = 0, internalPort = 0, floorPort = 0] = await findFreePorts(3);
  const linksUrl = database.getRoleUrl("links_api");
  const env = { LINKS_API_URL: linksUrl, CONNECTIONS: String(poolSize) };
  await startServer(onEnd, "our-server.ts", {
    ...env,
    AUTH_KEYS_URL: database.getRoleUrl("auth_keys"),
    PORT: String(oursPort),
    INTERNAL_PORT: String(internalPort),
  });
  await startServer(onEnd, "floor-server.ts", { ...env, PORT: String(floorPort) });
  const ours = {
    baseUrl: `http://127.0.0.1:${oursPort}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
  };
  return {
    ours,
    floor: { baseUrl: `http://127.0.0.1:${floorPort}` },
    /** The database with the links-api role. */
    linksUrl,
    adminUrl: database.adminUrl,
    merchant: await createMerchant(ours, "bench"),
  };
};
