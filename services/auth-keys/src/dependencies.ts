import type { ApiKeyMode, SignUp } from "@payment-links/contracts";
import type { CookiePolicy, DeepPages, Exports } from "@payment-links/http";
import type { RequestIntrospection, Identity } from "@payment-links/identity";
import type { ServiceContext } from "@payment-links/process";
import type { ActiveIssuers } from "./domain/identity.ts";
import type { ScannerPublicKeys } from "./domain/leaked-keys.ts";
import type { RejectedSignIns } from "./domain/rejected-sign-ins.ts";
import type { SignInMethod } from "./domain/session.ts";
import type { LastUses } from "./domain/last-uses.ts";
import type { VerifyContractSignature } from "./domain/siwe.ts";
import type { OidcIssuer } from "./issuer/oidc-issuer.ts";
import type { Counters } from "./metrics.ts";

/**
 * The dependencies of this service's handlers and jobs: parts of the `ServiceContext`, and the
 * objects that this service creates itself.
 */
export type Dependencies = Pick<
  ServiceContext,
  | "pool"
  | "catalogue"
  | "clock"
  | "log"
  | "fetchSolanaAccountState"
  | "baseUrl"
  | "checkoutUrl"
  | "limits"
> & {
  apiKeyMode: ApiKeyMode;
  cookie: CookiePolicy;
  /** The enabled sign-in methods. */
  signInMethods: readonly SignInMethod[];
  /** Which sign-ins can create an account. */
  signUp: SignUp;
  /** The OpenID Connect provider, if configured. */
  oidc: OidcIssuer | undefined;
  activeIssuers: ActiveIssuers;
  /** Verifies a contract wallet's signature by calling the contract on its chain. */
  verifyContractSignature: VerifyContractSignature;
  /** The public keys of secret scanners. If there are none, scanners cannot report leaked keys. */
  leakedKeysPublicKeys: ScannerPublicKeys;
  /** The delay until a new default wallet takes effect. */
  walletDelayMs: number;
  /** How long audit log entries are kept, in days. 0 keeps them forever. */
  auditLogDays: number;
  counters: Counters;
  identity: Identity;
  /** Answers introspection requests in-process. */
  introspect: RequestIntrospection;
  apiKeyUses: LastUses;
  sessionUses: LastUses;
  rejectedSignIns: RejectedSignIns;
  deepPages: DeepPages;
  exports: Exports<ServiceContext["pool"]>;
  /** Wakes the relay after a transaction with events has been committed. */
  wakeRelay: () => void;
};
