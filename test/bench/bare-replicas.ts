import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { startBalancer } from "../rig/round-robin.ts";
import { createFloorOutbox } from "./floor-statements.ts";

/** One or more processes of the `bench -- create` baseline behind a load balancer. */
export type BareReplicas = { baseUrl: string; close: () => Promise<void> };

/** The database connections of each process, which is the default of the services. */
const connectionsMax = 10;

/**
 * Starts `count` baseline processes on a separate database. The first process relays the events.
 */
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
