import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { SettlementListenerConfig } from "./config.ts";
import type { Dependencies } from "./dependencies.ts";
import { createLinkEventHandlers } from "./events/link-event-handlers.ts";
import { type Chains, createChains } from "./families/create-chains.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { paymentRepublishSource } from "./payment-reports/payment-republish-source.ts";
import { type Backlog, readBacklog } from "./store/open-payments.ts";

export { type SettlementListenerConfig, settlementListenerConfig } from "./config.ts";

const backlogIntervalMs = 15_000;
/**
 * How long received link events are batched. Links are not urgent, because a payment whose link is
 * unknown waits for it. One batch costs little more than one event.
 */
const receiveBatchIntervalMs = 100;

/** The service's database schema and its migration folders. */
export const settlementListenerMigration = {
  schema: "settlement_listener",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates settlement-listener. It stores the payments that providers report and chains show,
 * matches them to links, and publishes them on `settlements.v1`. Nothing runs before `start`.
 * Throws ConfigError for a chain on which the catalogue has no way to pay.
 * `fetchSolanaAccountState` and `fetchUsedAddresses` serve links-api without HTTP if it runs in the
 * same process.
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
