import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { type Merchant, createMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { createBenchDatabase } from "./database.ts";
import { createFloorOutbox } from "./floor-statements.ts";

/** The number of the client's connections, which is the same for our server and the baseline. */
export const connectionCount = 10;

/**
 * The number of connections of each pool, including the pool of the bare loop. Two cores can keep
 * this many connections busy.
 */
export const poolSize = 4;

/** Our server and the baseline server. Each has its own process, and both share one database. */
export type BenchSetup = {
  ours: { baseUrl: string; internalUrl: string };
  floor: { baseUrl: string };
  /** The address of the database with the links-api role, for the baseline and the bare loop. */
  databaseUrl: string;
  adminUrl: string;
  merchant: Merchant;
  close(): Promise<void>;
};

/**
 * Starts our server and the baseline. Also starts Postgres with durable settings, unless
 * `DATABASE_URL` is set.
 */
export const createBenchSetup = async (): Promise<BenchSetup> => {
  const database = await createBenchDatabase([authKeysMigration, linksApiMigration]);
  await createFloorOutbox(database.adminUrl);
  const [oursPort = 0, internalPort = 0, floorPort = 0] = await findFreePorts(3);
  const env = {
    AUTH_KEYS_URL: database.urlOf("auth_keys"),
    LINKS_API_URL: database.urlOf("links_api"),
    CONNECTIONS: String(poolSize),
    NODE_ENV: "production",
  };
  const children = [
    startChild("test/bench/our-server.ts", {
      ...env,
      PORT: String(oursPort),
      INTERNAL_PORT: String(internalPort),
    }),
    startChild("test/bench/floor-server.ts", { ...env, PORT: String(floorPort) }),
  ];
  await Promise.all(children.map(waitUntilListening));
  const baseUrl = `http://127.0.0.1:${oursPort}`;
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const merchant = await createMerchant({ baseUrl, internalUrl }, "bench");
  return {
    ours: { baseUrl, internalUrl },
    floor: { baseUrl: `http://127.0.0.1:${floorPort}` },
    databaseUrl: database.urlOf("links_api"),
    adminUrl: database.adminUrl,
    merchant,
    close: async () => {
      await Promise.all(children.map((child) => child.terminate("SIGTERM")));
      await database.close();
    },
  };
};
