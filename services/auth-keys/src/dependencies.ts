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
 * The dependencies of this service's handlers and jobs: parts of the `ServiceContext` plus its own
 * objects.
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
  /** Who gets a new account by signing in. */
  signUp: SignUp;
  /** The OpenID Connect provider, if configured. */
  oidc: OidcIssuer | undefined;
  activeIssuers: ActiveIssuers;
  /** Verifies a contract's signature by a call to the contract's chain. */
  verifyContractSignature: VerifyContractSignature;
  /** The public keys of secret scanners. Without any, scanners cannot report leaked keys. */
  leakedKeysPublicKeys: ScannerPublicKeys;
  /** The delay until a new default wallet takes effect. */
  walletDelayMs: number;
  /** Retention of audit log entries in days; 0 means without a limit. */
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
