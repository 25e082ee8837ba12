import { type Exports, createExports } from "@payment-links/http";
import { type Pool, createLazyPool } from "@payment-links/postgres";
import type { ServiceContext } from "./service-context.ts";

/** One part of one export is read at a time. */
const connectionsMax = 1;

/**
 * Creates the exports of a service, with a connection to Postgres of their own (rule CALLER-36). It is opened
 * for the first export. The service closes it when it stops.
 */
export const createServiceExports = (
  { clock, databaseUrl, log, metrics }: ServiceContext,
  service: string,
): Exports<Pool> => {
  const applicationName = `${service} exports`;
  const database = createLazyPool({ url: databaseUrl, applicationName, connectionsMax, log });
  return createExports({ clock, metrics, database });
};
