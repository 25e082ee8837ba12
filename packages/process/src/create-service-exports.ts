import { type Exports, createExports } from "@payment-links/http";
import { type Pool, createLazyPool } from "@payment-links/postgres";
import type { ServiceContext } from "./service-context.ts";

/** One connection is enough, because exports read one part at a time. */
const connectionsMax = 1;

/**
 * Creates a service's exports with their own Postgres connection (rule CALLER-36). The connection
 * is opened at the first export and closed when the service stops.
 */
export const createServiceExports = (
  { clock, databaseUrl, log, metrics }: ServiceContext,
  service: string,
): Exports<Pool> => {
  const applicationName = `${service} exports`;
  const database = createLazyPool({ url: databaseUrl, applicationName, connectionsMax, log });
  return createExports({ clock, metrics, database });
};
