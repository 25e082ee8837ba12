import { busMigrations } from "@payment-links/bus";
import { type Service, createCookiePolicy, createDeepPages } from "@payment-links/http";
import { type RequestIntrospection, type Identity, createIdentity } from "@payment-links/identity";
import {
  type BackgroundJob,
  type ServiceContext,
  createService,
  createServiceExports,
} from "@payment-links/process";
import type { AuthKeysConfig } from "./config.ts";
import type { Dependencies } from "./dependencies.ts";
import { getContractIssuer } from "./domain/identity.ts";
import { createLastUses } from "./domain/last-uses.ts";
import { getRelyingPartyId } from "./domain/passkey.ts";
import { createRejectedSignIns } from "./domain/rejected-sign-ins.ts";
import type { SignInMethod } from "./domain/session.ts";
import { getSignInChainIds } from "./domain/siwe.ts";
import { saveAuditEvents } from "./events/save-audit-events.ts";
import { createIntrospect } from "./introspect.ts";
import { createContractSignatureVerifier } from "./issuer/contract-wallets.ts";
import { type OidcIssuer, createOidcIssuer } from "./issuer/oidc-issuer.ts";
import { applyDueDefaults } from "./jobs/apply-due-defaults.ts";
import { flushLastUses } from "./jobs/flush-last-uses.ts";
import { deleteOldAuditEntries } from "./jobs/delete-old-audit-entries.ts";
import { deleteExpiredRows } from "./jobs/delete-expired-rows.ts";
import { flushRejectedSignIns } from "./jobs/flush-rejected-sign-ins.ts";
import { createCounters } from "./metrics.ts";
import { createInternalRoutes, oidcCallbackPath, createPublicRoutes } from "./routes.ts";
import { republishAccounts } from "./store/accounts.ts";

export { authKeysConfig } from "./config.ts";

/** Twice a minute, so that "last used" is never off by more than a minute. */
const lastUsesIntervalMs = 30_000;
const expiredRowsIntervalMs = 60_000;
const rejectedSignInsIntervalMs = 1_000;
const auditLogIntervalMs = 60 * 60_000;
const defaultWalletsIntervalMs = 10_000;

/** The service's schema and its migration folders. */
export const authKeysMigration = {
  schema: "auth_keys",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates auth-keys. It stores accounts with their handles and wallets, and the credentials that
 * authenticate callers. The returned `requestIntrospection` works in-process, for services in the
 * same process. This service does not use `context.requestIntrospection`. Nothing runs before
 * `start`.
 */
export const createAuthKeys = (
  context: ServiceContext,
  config: AuthKeysConfig,
): Service & { requestIntrospection: RequestIntrospection } => {
  const { baseUrl, clock, log, metrics, pool } = context;
  const counters = createCounters(metrics);
  const lastUses = { apiKeyUses: createLastUses(), sessionUses: createLastUses() };
  const exports = createServiceExports(context, "auth-keys");
  const oidc = createOidc(context, config);
  const signInMethods = getAvailableMethods(context, config);
  const contractIssuers = [...config.rpcUrls.keys()].map(getContractIssuer);
  const activeIssuers = { oidcIssuer: oidc?.issuer, contractIssuers };
  const introspect = createIntrospect({
    pool,
    clock,
    counters,
    activeIssuers,
    signInMethods,
    ...lastUses,
  });
  const identity = withoutSessionCache(
    createIdentity({ requestIntrospection: introspect, clock, metrics, log }),
  );
  const service = createService(context, "auth-keys", (wakeRelay) => {
    const dependencies: Dependencies = {
      ...context,
      ...lastUses,
      rejectedSignIns: createRejectedSignIns(),
      deepPages: createDeepPages({ clock, metrics }),
      exports,
      counters,
      identity,
      introspect,
      apiKeyMode: config.apiKeyMode,
      oidc,
      activeIssuers,
      signInMethods,
      signUp: config.signUp,
      leakedKeysPublicKeys: config.leakedKeysPublicKeys,
      walletDelayMs: config.walletDelayMs,
      auditLogDays: config.auditLogDays,
      verifyContractSignature: createContractSignatureVerifier({ rpcUrls: config.rpcUrls, log }),
      cookie: createCookiePolicy(baseUrl),
      wakeRelay,
    };
    return {
      publicRoutes: createPublicRoutes(dependencies),
      internalRoutes: createInternalRoutes(dependencies),
      identity,
      republishSource: republishAccounts,
      consumerOptions: { handlers: saveAuditEvents },
      backgroundJobs: createBackgroundJobs(dependencies),
      stop: () => exports.close(),
      afterStop: () =>
        Promise.all([flushLastUses(dependencies), flushRejectedSignIns(dependencies)]).then(
          () => {},
          (error: unknown) => {
            log.warn({ err: error }, "could not write last uses and rejected sign-ins");
          },
        ),
    };
  });
  return { ...service, requestIntrospection: introspect };
};

const createBackgroundJobs = (dependencies: Dependencies): readonly BackgroundJob[] => [
  { name: "last uses", waitMs: lastUsesIntervalMs, run: () => flushLastUses(dependencies) },
  {
    name: "default wallets",
    waitMs: defaultWalletsIntervalMs,
    run: () => applyDueDefaults(dependencies),
  },
  {
    name: "ended sessions",
    waitMs: expiredRowsIntervalMs,
    run: () => deleteExpiredRows(dependencies),
  },
  {
    name: "refused sign-ins",
    waitMs: rejectedSignInsIntervalMs,
    run: () => flushRejectedSignIns(dependencies),
  },
  {
    name: "audit log",
    waitMs: auditLogIntervalMs,
    run: () => deleteOldAuditEntries(dependencies),
  },
];

/**
 * Disables the session cache. This service looks sessions up in its own database, so a cache would
 * save little. Without a cache, a session that any replica ended stops working immediately.
 */
const withoutSessionCache = (identity: Identity): Identity => ({
  ...identity,
  authenticateSession: (token, freshness) => {
    identity.invalidateSession(token);
    return identity.authenticateSession(token, freshness);
  },
});

/** Returns the configured sign-in methods that this installation supports. */
const getAvailableMethods = (
  { baseUrl, catalogue }: ServiceContext,
  { oidc, signInMethods }: AuthKeysConfig,
): readonly SignInMethod[] => {
  const isAvailable: Record<SignInMethod, boolean> = {
    link: true,
    siwe: getSignInChainIds(catalogue).length > 0,
    oidc: oidc !== undefined,
    passkey: getRelyingPartyId(baseUrl) !== undefined,
  };
  return signInMethods.filter((method) => isAvailable[method]);
};

const createOidc = (
  { baseUrl, clock, log }: ServiceContext,
  { oidc: oidcClient, signInMethods }: AuthKeysConfig,
): OidcIssuer | undefined => {
  if (!signInMethods.includes("oidc")) return undefined;
  const redirectUri = `${baseUrl}${oidcCallbackPath}`;
  return oidcClient && createOidcIssuer({ client: oidcClient, redirectUri, clock, log });
};
