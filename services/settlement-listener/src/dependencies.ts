import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ServiceContext } from "@payment-links/process";
import type { Payment } from "./domain/payment.ts";
import type { ProviderKeys } from "./domain/provider-secrets.ts";
import type { RunningWatch } from "./watch/start-watch.ts";
import type { Counters } from "./metrics.ts";

/**
 * The dependencies of this service's modules: parts of the service context, and objects that the
 * service creates itself.
 */
export type Dependencies = Pick<ServiceContext, "pool" | "catalogue" | "clock" | "log"> & {
  providers: ProviderKeys;
  /** The rate limit for notices, per source address. */
  noticeLimit: ServiceContext["limits"]["perAddress"];
  counters: Counters;
  /** Alerts operators to settled payments that a reorg orphaned. */
  reportOrphanedSettled: (chainId: string, payments: readonly Payment[]) => void;
  /**
   * Returns the chains that this process watches, or will watch if it becomes their leader. Empty
   * until the service has started.
   */
  watches: () => readonly RunningWatch[];
  /**
   * Reads the on-chain account state that is needed to build a payer's Solana transaction. Rejects
   * if no node answers.
   */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /**
   * Returns which of the given Bitcoin addresses have been used on chain. Rejects if no node
   * answers.
   */
  fetchUsedAddresses: FetchUsedAddresses;
  /** The ids of the configured chains. */
  chainIds: readonly string[];
  /** Wakes the outbox relay after a commit that wrote events. */
  wakeRelay: () => void;
};
