import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ServiceContext } from "@payment-links/process";
import type { Payment } from "./domain/payment.ts";
import type { ProviderKeys } from "./domain/provider-secrets.ts";
import type { RunningWatch } from "./watch/start-watch.ts";
import type { Counters } from "./metrics.ts";

/**
 * What the modules of this service receive: parts of the service context, and what the service
 * created.
 */
export type Dependencies = Pick<ServiceContext, "pool" | "catalogue" | "clock" | "log"> & {
  providers: ProviderKeys;
  /** The rate limit of notices per source address. */
  noticeLimit: ServiceContext["limits"]["perAddress"];
  counters: Counters;
  /** Reports settled payments that a reorg orphaned to operators. */
  reportOrphanedSettled: (chainId: string, payments: readonly Payment[]) => void;
  /**
   * The chains that this process watches or is ready to watch. Empty before the service has
   * started.
   */
  watches: () => readonly RunningWatch[];
  /**
   * Reads the account state for building a payer's Solana transaction. Rejects if no node answers.
   */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /** Reads which Bitcoin addresses were used. Rejects if no node answers. */
  fetchUsedAddresses: FetchUsedAddresses;
  /** The ids of the configured chains. */
  chainIds: readonly string[];
  /** Wakes the outbox relay after a commit that wrote events. */
  wakeRelay: () => void;
};
