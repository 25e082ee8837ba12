import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { SettlementListenerConfig } from "./config.ts";
import { createDependencies } from "./dependencies.ts";
import { createEventHandlers } from "./events/event-handlers.ts";
import type { Chains } from "./chains/create-chains.ts";
import { measureBacklog } from "./jobs/measure-backlog.ts";
import { paymentRepublishSource } from "./payment-reports/payment-republish-source.ts";
import { createInternalRoutes, createPublicRoutes } from "./routes.ts";

export { type SettlementListenerConfig, settlementListenerConfig } from "./config.ts";

/**
 * How long link events are collected before they are stored as one batch. The delay is harmless,
 * because payments of unknown links are deferred. One batch costs little more than one event.
 */
const receiveBatchIntervalMs = 100;

/** The service's database schema and its migration folders. */
export const settlementListenerMigration = {
  schema: "settlement_listener",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates settlement-listener. It stores the payments that providers report and that it finds on
 * chains, matches them to links, and publishes them on `settlements.v1`. It does nothing until
 * `start` is called. Throws ConfigError if the catalogue has no payment method for a configured
 * chain. If links-api runs in the same process, it calls `fetchSolanaAccountState` and
 * `fetchUsedAddresses` directly instead of over HTTP.
 */
export const createSettlementListener = (
  context: ServiceContext,
  config: SettlementListenerConfig,
): Service & Pick<Chains, "fetchSolanaAccountState" | "fetchUsedAddresses"> =>
  createService(context, "settlement-listener", (wakeRelay) => {
    const dependencies = createDependencies(context, config, wakeRelay);
    const { start, stop, fetchSolanaAccountState, fetchUsedAddresses } = dependencies.chains;
    return {
      publicRoutes: createPublicRoutes(dependencies),
      internalRoutes: createInternalRoutes(dependencies),
      consumerOptions: {
        handlers: createEventHandlers(dependencies),
        batchIntervalMs: receiveBatchIntervalMs,
      },
      republishSource: paymentRepublishSource,
      backgroundJobs: [measureBacklog(dependencies)],
      start,
      stop,
      directCalls: { fetchSolanaAccountState, fetchUsedAddresses },
    };
  });
