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

/** What this service gives its rooms: the ground, and what it made on the ground. */
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
  /** The ways into a session that there are here. */
  signInMethods: readonly SignInMethod[];
  /** For whom an account is opened by signing in. */
  signUp: SignUp;
  /** Where people sign in with OpenID Connect, if they can. */
  oidc: OidcIssuer | undefined;
  activeIssuers: ActiveIssuers;
  /** Whether a contract says that a message is signed for it; asks the contract's chain. */
  verifyContractSignature: VerifyContractSignature;
  /** By which scanners of leaked keys are known; none where there is no such call. */
  leakedKeysPublicKeys: ScannerPublicKeys;
  /** How long another default wallet waits until it takes effect. */
  walletDelayMs: number;
  /** For how many days entries of the audit log are kept; 0 is for ever. */
  auditLogDays: number;
  counters: Counters;
  identity: Identity;
  /** Who is calling. This service answers that question itself. */
  introspect: RequestIntrospection;
  apiKeyUses: LastUses;
  sessionUses: LastUses;
  rejectedSignIns: RejectedSignIns;
  deepPages: DeepPages;
  exports: Exports<ServiceContext["pool"]>;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};
