import type { Bus } from "@payment-links/bus";
import type {
  FetchSolanaAccountState,
  FetchUsedAddresses,
  Catalogue,
  SendReceipt,
} from "@payment-links/contracts";
import type { RequestIntrospection } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Limit, Limiter } from "@payment-links/rate-limit";
import type { Clock, Log, Metrics } from "@payment-links/runtime";

/** The dependencies of every service. The process chooses the implementations, not the service. */
export type ServiceContext = {
  pool: Pool;
  /** The same database and role as the pool. The relay opens its own connection. */
  databaseUrl: string;
  bus: Bus;
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  trustedProxies: readonly string[];
  /** Asks auth-keys to identify a caller. */
  requestIntrospection: RequestIntrospection;
  /** Asks settlement-listener for the account state that a payer's Solana transaction needs. */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /** Asks settlement-listener which Bitcoin addresses have been used. */
  fetchUsedAddresses: FetchUsedAddresses;
  /** Asks auth-keys to send a receipt. */
  sendReceipt: SendReceipt;
  catalogue: Catalogue;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The public origins of the service, without a trailing slash. */
  baseUrl: string;
  checkoutUrl: string;
};
