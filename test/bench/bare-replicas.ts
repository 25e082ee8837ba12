import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { startChild, waitListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { openBalancer } from "../rig/round-robin.ts";
import { makeFloorOutbox } from "./floor-statements.ts";

/** One process or several of the floor of `bench -- create`, behind a balancer. */
export type BareReplicas = { baseUrl: string; close: () => Promise<void> };

/** Connections of each process: as many as a service has by default. */
const connectionsMax = 10;

/** Starts so many bare processes on a database of their own. The first of them takes the events. */
export const openBareReplicas = async (count: number): Promise<BareReplicas> => {
  const database = await createTestDatabase([linksApiMigration]);
  await makeFloorOutbox(database.adminUrl);
  const ports = await findFreePorts(count);
  const children = ports.map((port, index) =>
    startChild("test/bench/floor-server.ts", {
      LINKS_API_URL: database.urlOf("links_api"),
      CONNECTIONS: String(connectionsMax),
      NODE_ENV: "production",
      PORT: String(port),
      RELAYS: String(index === 0),
    }),
  );
  await Promise.all(children.map(waitListening));
  const balancer = await openBalancer(() => ports);
  return {
    baseUrl: `http://127.0.0.1:${balancer.port}`,
    close: async () => {
      await Promise.all(children.map((child) => child.end("SIGTERM")));
      await balancer.close();
      await database.drop();
    },
  };
};
