import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { SettlementListenerConfig } from "./config.ts";
import type { Dependencies } from "./dependencies.ts";
import { createLinkEventHandlers } from "./events/link-event-handlers.ts";
import { type Chains, createChains } from "./chains/create-chains.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { paymentRepublishSource } from "./payment-reports/payment-republish-source.ts";
import { type Backlog, readBacklog } from "./store/open-payments.ts";

export { type SettlementListenerConfig, settlementListenerConfig } from "./config.ts";

const backlogIntervalMs = 15_000;
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
): Service & Pick<Chains, "fetchSolanaAccountState" | "fetchUsedAddresses"> => {
  const { clock, metrics, pool } = context;
  let wakeRelayCallback = () => {};
  const chains = createChains(context, config, () => wakeRelayCallback());
  const service = createService(context, "settlement-listener", (wakeRelay) => {
    wakeRelayCallback = wakeRelay;
    const dependencies: Dependencies = {
      ...context,
      wakeRelay,
      providers: config.providers,
      noticeLimit: config.noticeLimit,
      chainIds: chains.ids,
      watches: chains.watches,
      fetchSolanaAccountState: chains.fetchSolanaAccountState,
      fetchUsedAddresses: chains.fetchUsedAddresses,
      counters: createCounters(metrics),
      reportOrphanedSettled: chains.reportOrphanedSettled,
    };
    let backlog: Backlog | undefined;
    return {
      publicRoutes: publicRoutes(dependencies),
      internalRoutes: internalRoutes(dependencies),
      consumerOptions: {
        handlers: createLinkEventHandlers(context),
        batchIntervalMs: receiveBatchIntervalMs,
      },
      republishSource: paymentRepublishSource,
      backgroundJobs: [
        {
          name: "settlement backlog",
          waitMs: backlogIntervalMs,
          run: async () => {
            backlog = await readBacklog(pool, backlog);
            dependencies.counters.setBacklog(backlog, clock.now());
          },
        },
      ],
      start: chains.start,
      stop: chains.stop,
    };
  });
  const { fetchSolanaAccountState, fetchUsedAddresses } = chains;
  return { ...service, fetchSolanaAccountState, fetchUsedAddresses };
};
