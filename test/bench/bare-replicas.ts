import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { startBalancer } from "../rig/round-robin.ts";
import { createFloorOutbox } from "./floor-statements.ts";

/** One process or several of the floor of `bench -- create`, behind a balancer. */
export type BareReplicas = { baseUrl: string; close: () => Promise<void> };

/** Connections of each process: as many as a service has by default. */
const connectionsMax = 10;

/** Starts so many bare processes on a database of their own. The first of them takes the events. */
export const startBareReplicas = async (count: number): Promise<BareReplicas> => {
  const database = await createTestDatabase([linksApiMigration]);
  await createFloorOutbox(database.adminUrl);
  const ports = await findFreePorts(count);
  const children = ports.map((port, index) =>
    startChild("test/bench/floor-server.ts", {
      LINKS_API_URL: database.getRoleUrl("links_api"),
      CONNECTIONS: String(connectionsMax),
      NODE_ENV: "production",
      PORT: String(port),
      RELAYS: String(index === 0),
    }),
  );
  await Promise.all(children.map(waitUntilListening));
  const balancer = await startBalancer(() => ports);
  return {
    baseUrl: `http://127.0.0.1:${balancer.port}`,
    close: async () => {
      await Promise.all(children.map((child) => child.terminate("SIGTERM")));
      await balancer.close();
      await database.drop();
    },
  };
};
