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

/** What every service stands on. One place decides which adapters these are, never a service. */
export type ServiceContext = {
  pool: Pool;
  /** The same database and role as the pool's, for the relay's own connection. */
  databaseUrl: string;
  bus: Bus;
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  trustedProxies: readonly string[];
  /** Asks auth-keys who is calling. */
  requestIntrospection: RequestIntrospection;
  /** Asks settlement-listener what a payer's transaction on Solana is made of. */
  fetchSolanaAccountState: FetchSolanaAccountState;
  /** Asks settlement-listener which addresses of Bitcoin were used. */
  fetchUsedAddresses: FetchUsedAddresses;
  catalogue: Catalogue;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The origins under which the service is reached, without a trailing slash. */
  baseUrl: string;
  checkoutUrl: string;
};
