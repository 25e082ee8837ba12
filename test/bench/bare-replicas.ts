import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { startBalancer } from "../rig/round-robin.ts";
import { createFloorOutbox } from "./floor-statements.ts";

/** One or several processes of the baseline of `bench -- create`, behind a load balancer. */
export type BareReplicas = { baseUrl: string; close: () => Promise<void> };

/** The connections of each process: the default of a service. */
const connectionsMax = 10;

/** Starts that many bare processes on a separate database. The first one relays the events. */
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
