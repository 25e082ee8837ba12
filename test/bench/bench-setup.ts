import { authKeysMigration } from "@payment-links/auth-keys";
import { linksApiMigration } from "@payment-links/links-api";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { type Merchant, createMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { createBenchDatabase } from "./database.ts";
import { createFloorOutbox } from "./floor-statements.ts";

/** Connections of the client: the same for ours and for the floor. */
export const connectionCount = 10;

/** Connections of each pool, the bare loop's included: as many as two cores can keep busy. */
export const poolSize = 4;

/** Ours and the floor, each in a process of its own, on one database. */
export type BenchSetup = {
  ours: { baseUrl: string; internalUrl: string };
  floor: { baseUrl: string };
  /** The role of links-api, for the floor and for the bare loop. */
  databaseUrl: string;
  adminUrl: string;
  merchant: Merchant;
  close(): Promise<void>;
};

/** Starts a Postgres with its durable settings on (or uses `DATABASE_URL`), ours, and the floor. */
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
