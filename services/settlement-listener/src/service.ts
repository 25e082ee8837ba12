import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type Ground, createService } from "@payment-links/process";
import type { SettlementListenerConfig } from "./config.ts";
import type { Deps } from "./deps.ts";
import { linkReactions } from "./events/link-reactions.ts";
import { type Chains, openChains } from "./families/open-chains.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";
import { republishPayments } from "./sightings/republish-payments.ts";
import { type Backlog, readBacklog } from "./store/open-payments.ts";

export { type SettlementListenerConfig, settlementListenerConfig } from "./config.ts";

const measureEveryMs = 15_000;
/**
 * A payment whose link is not heard of yet waits for it, so that nobody needs to hear of a link at once.
 * Together, those of a tenth of a second cost little more than one.
 */
const hearingRestMs = 100;

/** The service's own schema and the files that make it. */
export const settlementListenerMigration = {
  schema: "settlement_listener",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates settlement-listener: it stores what providers say of payments and what it sees on chains,
 * matches them to links, and tells of them on `settlements.v1`. Nothing runs before `start`. Throws
 * ConfigError for a chain on which the catalogue knows no way of being paid. `askSolana` and
 * `askUsedAddresses` are what it tells links-api, without HTTP, for services of the same process.
 */
export const createSettlementListener = (
  ground: Ground,
  config: SettlementListenerConfig,
): Service & Pick<Chains, "askSolana" | "askUsedAddresses"> => {
  const { clock, metrics, pool } = ground;
  let relayWaker = () => {};
  const chains = openChains(ground, config, () => relayWaker());
  const service = createService(ground, "settlement-listener", (wakeRelay) => {
    relayWaker = wakeRelay;
    const deps: Deps = {
      ...ground,
      wakeRelay,
      providers: config.providers,
      noticeLimit: config.noticeLimit,
      chainIds: chains.ids,
      watches: chains.watches,
      askSolana: chains.askSolana,
      askUsedAddresses: chains.askUsedAddresses,
      counters: createCounters(metrics),
      reportOrphanedSettled: chains.reportOrphanedSettled,
    };
    let backlog: Backlog | undefined;
    return {
      publicRoutes: publicRoutes(deps),
      internalRoutes: internalRoutes(deps),
      hearing: { reactions: linkReactions(ground), restMs: hearingRestMs },
      republishing: republishPayments,
      jobs: [
        {
          name: "settlement backlog",
          waitMs: measureEveryMs,
          run: async () => {
            backlog = await readBacklog(pool, backlog);
            deps.counters.measured(backlog, clock.now());
          },
        },
      ],
      start: chains.start,
      stop: chains.stop,
    };
  });
  const { askSolana, askUsedAddresses } = chains;
  return { ...service, askSolana, askUsedAddresses };
};
