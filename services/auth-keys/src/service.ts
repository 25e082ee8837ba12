import { busMigrations } from "@payment-links/bus";
import { type Service, cookiePolicy, createDeepPages } from "@payment-links/http";
import { type Ask, type Identity, createIdentity } from "@payment-links/identity";
import { type Ground, createService, createServiceExports } from "@payment-links/process";
import type { AuthKeysConfig } from "./config.ts";
import type { Deps } from "./deps.ts";
import { contractIssuer } from "./domain/identity.ts";
import { createLastUses } from "./domain/last-uses.ts";
import { relyingPartyId } from "./domain/passkey.ts";
import { createRefusals } from "./domain/refusals.ts";
import type { SignInMethod } from "./domain/session.ts";
import { evmChainIds } from "./domain/siwe.ts";
import { keepAudit } from "./events/keep-audit.ts";
import { createIntrospect } from "./introspect.ts";
import { createContractWallets } from "./issuer/contract-wallets.ts";
import { type OidcIssuer, createOidcIssuer } from "./issuer/oidc-issuer.ts";
import { applyDefaults } from "./jobs/apply-defaults.ts";
import { keepUses } from "./jobs/keep-uses.ts";
import { sweepAudit } from "./jobs/sweep-audit.ts";
import { sweepEnded } from "./jobs/sweep-ended.ts";
import { tellRefusals } from "./jobs/tell-refusals.ts";
import { createCounters } from "./metrics.ts";
import { internalRoutes, oidcCallbackPath, publicRoutes } from "./routes.ts";
import { republishAccounts } from "./store/accounts.ts";

export { authKeysConfig } from "./config.ts";

/** Twice a minute, so that "last used" is never wrong by more than a minute. */
const keepUsesEveryMs = 30_000;
const sweepEveryMs = 60_000;
const refusalsEveryMs = 1_000;
const sweepAuditEveryMs = 60 * 60_000;
const defaultsEveryMs = 10_000;

/** The service's own schema and the files that make it. */
export const authKeysMigration = {
  schema: "auth_keys",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates auth-keys: accounts, their handles and wallets, and the credentials that act for them.
 * `ask` is its introspection without HTTP, for services of the same process. It does not use the
 * ground's own `ask`. Nothing runs before `start`.
 */
export const createAuthKeys = (ground: Ground, config: AuthKeysConfig): Service & { ask: Ask } => {
  const { baseUrl, clock, log, metrics, pool } = ground;
  const counters = createCounters(metrics);
  const uses = { apiKeyUses: createLastUses(), sessionUses: createLastUses() };
  const exports = createServiceExports(ground, "auth-keys");
  const oidc = openOidc(ground, config);
  const signInMethods = methodsOf(ground, config);
  const contracts = [...config.rpcUrls.keys()].map(contractIssuer);
  const issuers = { oidc: oidc?.issuer, contracts };
  const introspect = createIntrospect({ pool, clock, counters, issuers, signInMethods, ...uses });
  const identity = alwaysAsking(createIdentity({ ask: introspect, clock, metrics, log }));
  const service = createService(ground, "auth-keys", (wakeRelay) => {
    const deps: Deps = {
      ...ground,
      ...uses,
      refusals: createRefusals(),
      deepPages: createDeepPages({ clock, metrics }),
      exports,
      counters,
      identity,
      introspect,
      apiKeyMode: config.apiKeyMode,
      oidc,
      issuers,
      signInMethods,
      signUp: config.signUp,
      leakedKeysPublicKeys: config.leakedKeysPublicKeys,
      walletDelayMs: config.walletDelayMs,
      auditLogDays: config.auditLogDays,
      isContractsOwn: createContractWallets({ rpcUrls: config.rpcUrls, log }),
      cookie: cookiePolicy(baseUrl),
      wakeRelay,
    };
    return {
      publicRoutes: publicRoutes(deps),
      internalRoutes: internalRoutes(deps),
      identity,
      republishing: republishAccounts,
      hearing: { reactions: keepAudit },
      jobs: [
        { name: "last uses", waitMs: keepUsesEveryMs, run: () => keepUses(deps) },
        { name: "default wallets", waitMs: defaultsEveryMs, run: () => applyDefaults(deps) },
        { name: "ended sessions", waitMs: sweepEveryMs, run: () => sweepEnded(deps) },
        { name: "refused sign-ins", waitMs: refusalsEveryMs, run: () => tellRefusals(deps) },
        { name: "audit log", waitMs: sweepAuditEveryMs, run: () => sweepAudit(deps) },
      ],
      stop: () => exports.close(),
      last: () =>
        Promise.all([keepUses(deps), tellRefusals(deps)]).then(
          () => {},
          (error: unknown) => {
            log.warn({ err: error }, "the last uses and refusals could not be written");
          },
        ),
    };
  });
  return { ...service, ask: introspect };
};

/**
 * A question costs no more here than a kept answer would save. So a session that any replica ended
 * is dead at once.
 */
const alwaysAsking = (identity: Identity): Identity => ({
  ...identity,
  bySession: (token, fresh) => {
    identity.forgetSession(token);
    return identity.bySession(token, fresh);
  },
});

/** The ways in that are wanted, without those that this installation does not have. */
const methodsOf = (
  { baseUrl, catalogue }: Ground,
  { oidc, signInMethods }: AuthKeysConfig,
): readonly SignInMethod[] => {
  const isThere: Record<SignInMethod, boolean> = {
    link: true,
    siwe: evmChainIds(catalogue).length > 0,
    oidc: oidc !== undefined,
    passkey: relyingPartyId(baseUrl) !== undefined,
  };
  return signInMethods.filter((method) => isThere[method]);
};

const openOidc = (
  { baseUrl, clock, log }: Ground,
  { oidc: client, signInMethods }: AuthKeysConfig,
): OidcIssuer | undefined => {
  if (!signInMethods.includes("oidc")) return undefined;
  const redirectUri = `${baseUrl}${oidcCallbackPath}`;
  return client && createOidcIssuer({ client, redirectUri, clock, log });
};
