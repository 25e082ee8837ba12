import type { Bus } from "@payment-links/bus";
import type {
  FetchSolanaAccountState,
  FetchUsedAddresses,
  Catalogue,
} from "@payment-links/contracts";
import type { RequestIntrospection } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Limit, Limiter } from "@payment-links/rate-limit";
import type { Clock, Log, Metrics } from "@payment-links/runtime";

/**
 * The dependencies of every service. The process chooses the implementations, never the service
 * itself.
 */
export type ServiceContext = {
  pool: Pool;
  /** The same database and role as the pool, for the relay's own connection. */
  databaseUrl: string;
  bus: Bus;
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  trustedProxies: readonly string[];
  /** Requests from auth-keys who is calling. */
  requestIntrospection: RequestIntrospection;
  /** Requests from settlement-listener the account state for a payer's Solana transaction. */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /** Asks settlement-listener which Bitcoin addresses have been used. */
  fetchUsedAddresses: FetchUsedAddresses;
  catalogue: Catalogue;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The public origins of the service, without a trailing slash. */
  baseUrl: string;
  checkoutUrl: string;
};
