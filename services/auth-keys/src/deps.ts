import type { ApiKeyMode, SignUp } from "@payment-links/contracts";
import type { CookiePolicy, DeepPages, Exports } from "@payment-links/http";
import type { Ask, Identity } from "@payment-links/identity";
import type { Ground } from "@payment-links/process";
import type { PresentIssuers } from "./domain/identity.ts";
import type { ScannerKeys } from "./domain/leaked-keys.ts";
import type { Refusals } from "./domain/refusals.ts";
import type { SignInMethod } from "./domain/session.ts";
import type { LastUses } from "./domain/last-uses.ts";
import type { AskContract } from "./domain/siwe.ts";
import type { OidcIssuer } from "./issuer/oidc-issuer.ts";
import type { Counters } from "./metrics.ts";

/** What this service gives its rooms: the ground, and what it made on the ground. */
export type Deps = Pick<
  Ground,
  "pool" | "catalogue" | "clock" | "log" | "askSolana" | "baseUrl" | "checkoutUrl" | "limits"
> & {
  apiKeyMode: ApiKeyMode;
  cookie: CookiePolicy;
  /** The ways into a session that there are here. */
  signInMethods: readonly SignInMethod[];
  /** For whom an account is opened by signing in. */
  signUp: SignUp;
  /** Where people sign in with OpenID Connect, if they can. */
  oidc: OidcIssuer | undefined;
  issuers: PresentIssuers;
  /** Whether a contract says that a message is signed for it; asks the contract's chain. */
  isContractsOwn: AskContract;
  /** By which scanners of leaked keys are known; none where there is no such call. */
  leakedKeysPublicKeys: ScannerKeys;
  /** How long another default wallet waits until it takes effect. */
  walletDelayMs: number;
  /** For how many days entries of the audit log are kept; 0 is for ever. */
  auditLogDays: number;
  counters: Counters;
  identity: Identity;
  /** Who is calling. This service answers that question itself. */
  introspect: Ask;
  apiKeyUses: LastUses;
  sessionUses: LastUses;
  refusals: Refusals;
  deepPages: DeepPages;
  exports: Exports<Ground["pool"]>;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};
