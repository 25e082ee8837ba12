import type { Pool } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";
import type { ChainReaders } from "@payment-links/chains/chain-reader";
import type { MissingReceiptTracker } from "../scan/missing-receipt-tracker.ts";
import type { ChainMetrics } from "./chain-metrics.ts";
import type { WatchedChain } from "@payment-links/chains/watched-chain";

/** The dependencies of every step of watching a chain. */
export type WatchContext = Omit<ChainReaders, "close"> & {
  chain: Pick<WatchedChain, "id" | "settings" | "findFault" | "getExtraConfirmations">;
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: ChainMetrics;
  /** Tracks the transactions whose receipts are missing. */
  missingReceipts: MissingReceiptTracker;
  /** Wakes the outbox relay after a commit that wrote events. */
  wakeRelay: () => void;
};

/**
 * The chain changed during a read, so the results do not fit together. The caller must read again.
 */
export class ChainMovedError extends Error {
  override readonly name = "ChainMovedError";
}
