import type { Pool } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";
import type { ChainReaders } from "../chain-reader.ts";
import type { MissingReceiptTracker } from "../scan/missing-receipt-tracker.ts";
import type { ChainMetrics } from "./chain-metrics.ts";
import type { WatchedChain } from "./watched-chain.ts";

/** What every step of watching one chain is given. */
export type WatchContext = Omit<ChainReaders, "close"> & {
  chain: Pick<WatchedChain, "id" | "settings" | "findFault" | "getExtraConfirmations">;
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: ChainMetrics;
  /** Transactions whose receipts the scan waits for. */
  missingReceipts: MissingReceiptTracker;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};

/** The chain moved while it was read: the parts do not fit together, and are read again. */
export class ChainMovedError extends Error {
  override readonly name = "ChainMovedError";
}
