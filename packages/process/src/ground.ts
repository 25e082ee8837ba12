import type { Bus } from "@payment-links/bus";
import type { AskSolana, AskUsedAddresses, Catalogue } from "@payment-links/contracts";
import type { Ask } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Limit, Limiter } from "@payment-links/rate-limit";
import type { Clock, Log, Metrics } from "@payment-links/runtime";

/** What every service stands on. One place decides which adapters these are, never a service. */
export type Ground = {
  pool: Pool;
  /** The same database and role as the pool's, for the relay's own connection. */
  databaseUrl: string;
  bus: Bus;
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  trustedProxies: readonly string[];
  /** Asks auth-keys who is calling. */
  ask: Ask;
  /** Asks settlement-listener what a payer's transaction on Solana is made of. */
  askSolana: AskSolana;
  /** Asks settlement-listener which addresses of Bitcoin were used. */
  askUsedAddresses: AskUsedAddresses;
  catalogue: Catalogue;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The origins under which the service is reached, without a trailing slash. */
  baseUrl: string;
  checkoutUrl: string;
};
