import type { ReplayResult } from "@payment-links/bus";
import type { Ground } from "@payment-links/process";
import type { ProviderKeys } from "./domain/provider-secrets.ts";
import type { Counters } from "./metrics.ts";

/** What the rooms of this service are given: the ground, and what the service made on it. */
export type Deps = Pick<Ground, "pool" | "catalogue" | "clock" | "log"> & {
  providers: ProviderKeys;
  counters: Counters;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
  /** Runs this service's dead letters again through its own handlers. */
  replayDeadLetters: () => Promise<ReplayResult>;
};
