import type { ServiceContext } from "@payment-links/process";
import type { SettlementListenerConfig } from "./config.ts";
import { type Chains, createChains } from "./chains/create-chains.ts";
import { type Counters, createCounters } from "./metrics.ts";

/**
 * The dependencies of this service's modules: parts of the service context, and objects that the
 * service creates itself.
 */
export type Dependencies = Pick<ServiceContext, "pool" | "catalogue" | "clock" | "log"> &
  Pick<SettlementListenerConfig, "providers" | "noticeLimit"> & {
    chains: Chains;
    counters: Counters;
    /** Wakes the outbox relay after a commit that wrote events. */
    wakeRelay: () => void;
  };

/** Creates the dependencies. Throws `ConfigError` if a configured chain cannot be watched. */
export const createDependencies = (
  context: ServiceContext,
  config: SettlementListenerConfig,
  wakeRelay: () => void,
): Dependencies => ({
  ...context,
  ...config,
  chains: createChains(context, config, wakeRelay),
  counters: createCounters(context.metrics),
  wakeRelay,
});
