import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ServiceContext } from "@payment-links/process";
import type { Payment } from "./domain/payment.ts";
import type { ProviderKeys } from "./domain/provider-secrets.ts";
import type { RunningWatch } from "./watch/start-watch.ts";
import type { Counters } from "./metrics.ts";

/** What the rooms of this service are given: the ground, and what the service made on it. */
export type Dependencies = Pick<ServiceContext, "pool" | "catalogue" | "clock" | "log"> & {
  providers: ProviderKeys;
  /** The notices that one source address may send. */
  noticeLimit: ServiceContext["limits"]["perAddress"];
  counters: Counters;
  /** Tells operators of settled payments that a chain took away. */
  reportOrphanedSettled: (chainId: string, payments: readonly Payment[]) => void;
  /** The chains that this process stands for; empty before the service has started. */
  watches: () => readonly RunningWatch[];
  /** What a payer's transaction on Solana is made of; rejects where nobody can tell. */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /** Which addresses of Bitcoin were used; rejects if no node can tell. */
  fetchUsedAddresses: FetchUsedAddresses;
  /** The ids of the chains that are configured. */
  chainIds: readonly string[];
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};
