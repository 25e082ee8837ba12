import { type SendReceipt, createApiError, signInOperations } from "@payment-links/contracts";
import {
  type CookiePolicy,
  type DeepPages,
  type Exports,
  type LargeBodies,
  createCookiePolicy,
  createDeepPages,
  createLargeBodies,
} from "@payment-links/http";
import { type Identity, type RequestIntrospection, createIdentity } from "@payment-links/identity";
import { type ServiceContext, createServiceExports } from "@payment-links/process";
import type { AuthKeysConfig } from "./config.ts";
import { createReceiptSender, receiptTimeoutMs } from "./delivery/receipts.ts";
import { type SendEmail, createEmailSender } from "./delivery/smtp.ts";
import { type ActiveIssuers, getContractIssuer } from "./domain/identity.ts";
import { type LastUses, createLastUses } from "./domain/last-uses.ts";
import { getRelyingPartyId } from "./domain/passkey.ts";
import { type RejectedSignIns, createRejectedSignIns } from "./domain/rejected-sign-ins.ts";
import type { SignInMethod } from "./domain/session.ts";
import { type VerifyContractSignature, getSignInChainIds } from "./domain/siwe.ts";
import { type EncodePicture, createPictureEncoder } from "./images/encode-picture.ts";
import { createIntrospect } from "./introspection/introspect.ts";
import { createContractSignatureVerifier } from "./issuer/contract-wallets.ts";
import { type OidcIssuer, createOidcIssuer } from "./issuer/oidc-issuer.ts";
import { type Counters, createCounters, registerEmailQueue } from "./metrics.ts";
import { findOldestDueAt } from "./store/emails.ts";

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
> &
  Pick<AuthKeysConfig, "signUp" | "leakedKeysPublicKeys" | "walletDelayMs" | "auditLogDays"> & {
    cookie: CookiePolicy;
    /** The enabled sign-in methods that this installation supports. */
    signInMethods: readonly SignInMethod[];
    /** The OpenID Connect provider, if configured. */
    oidc: OidcIssuer | undefined;
    activeIssuers: ActiveIssuers;
    /** Verifies a contract wallet's signature by calling the contract on its chain. */
    verifyContractSignature: VerifyContractSignature;
    counters: Counters;
    identity: Identity;
    /** Answers introspection requests in-process. */
    introspect: RequestIntrospection;
    apiKeyUses: LastUses;
    sessionUses: LastUses;
    rejectedSignIns: RejectedSignIns;
    deepPages: DeepPages;
    exports: Exports<ServiceContext["pool"]>;
    /** Sends an email; undefined if email is not configured. */
    sendEmail: SendEmail | undefined;
    /** Sends a receipt. Throws EMAIL_UNAVAILABLE if email is not configured. */
    sendReceipt: SendReceipt;
    encodePicture: EncodePicture;
    /** The limits of uploaded images. */
    pictureBodies: LargeBodies;
    /** Wakes the relay after a transaction with events has been committed. */
    wakeRelay: () => void;
  };

/** The maximum size of an uploaded image, and how many are uploaded or converted at a time. */
const pictureBytesMax = 2 * 1024 * 1024;
const pictureUploadsMax = 8;

/** Creates the dependencies. */
export const createDependencies = (
  context: ServiceContext,
  config: AuthKeysConfig,
  wakeRelay: () => void,
): Dependencies => {
  const { baseUrl, clock, log, metrics, pool } = context;
  const oidc = createOidc(context, config);
  const contractIssuers = [...config.rpcUrls.keys()].map(getContractIssuer);
  const counters = createCounters(metrics);
  const introspectionDependencies = {
    ...context,
    counters,
    apiKeyUses: createLastUses(),
    sessionUses: createLastUses(),
    activeIssuers: { oidcIssuer: oidc?.issuer, contractIssuers },
    signInMethods: getAvailableMethods(context, config),
  };
  const introspect = createIntrospect(introspectionDependencies);
  registerEmailQueue({ ...context, findOldestDueAt: (now) => findOldestDueAt(pool, now) });
  return {
    ...config,
    ...introspectionDependencies,
    rejectedSignIns: createRejectedSignIns(),
    deepPages: createDeepPages({ clock, metrics }),
    exports: createServiceExports(context, "auth-keys"),
    identity: withoutSessionCache(
      createIdentity({ requestIntrospection: introspect, clock, metrics, log }),
    ),
    introspect,
    oidc,
    verifyContractSignature: createContractSignatureVerifier({ rpcUrls: config.rpcUrls, log }),
    cookie: createCookiePolicy(baseUrl),
    sendEmail: config.email === undefined ? undefined : createEmailSender(config.email),
    sendReceipt: createSendReceipt(context, config, counters),
    encodePicture: createPictureEncoder(),
    pictureBodies: createLargeBodies({ bytesMax: pictureBytesMax, accountsMax: pictureUploadsMax }),
    wakeRelay,
  };
};

const createSendReceipt = (
  { catalogue, checkoutUrl }: ServiceContext,
  { email }: AuthKeysConfig,
  counters: Counters,
): SendReceipt => {
  if (email === undefined) return () => Promise.reject(createApiError("EMAIL_UNAVAILABLE"));
  const sendEmail = createEmailSender({ ...email, timeoutMs: receiptTimeoutMs });
  return createReceiptSender({ sendEmail, counters, catalogue, checkoutUrl });
};

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
  // The URI must be registered at the identity provider.
  const redirectUri = `${baseUrl}${signInOperations.finishOidc.path}`;
  return oidcClient && createOidcIssuer({ client: oidcClient, redirectUri, clock, log });
};
