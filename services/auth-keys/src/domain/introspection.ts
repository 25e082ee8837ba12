import type {
  Account,
  IntrospectionResponse,
  Mode,
  SessionService,
} from "@payment-links/contracts";
import { type SignInMethod, getSessionEnd } from "./session.ts";

/** An API key found by its hash, with its account. */
export type KeyCredential = Account & {
  credentialId: string;
  mode: Mode;
  bucketId: string;
  scopes: string[];
  cidrs: string[] | null;
  requestsPerMinute: number | null;
  burst: number | null;
  expiresAt: Date | null;
  isActive: boolean;
  isRevoked: boolean;
};

/** A session found by the hash of its token, with its user's account. */
export type SessionCredential = Account & {
  credentialId: string;
  method: string;
  lastSeenAt: Date;
  expiresAt: Date;
  /** When the user last proved presence. */
  provenAt: Date;
  /** The sign-in methods of the identities and passkeys of the account. */
  ownMethods: string[];
};

/** The detailed outcome of an introspection. The response to the service contains less detail. */
export type IntrospectionResult =
  | "valid"
  | "unknown"
  | "revoked"
  | "inactive"
  | "expired"
  | "suspended";

/** The outcome of an introspection for the metric, and the response. */
export type CredentialEvaluation = {
  outcome: IntrospectionResult;
  response: IntrospectionResponse;
};

/**
 * Evaluates an API key. The responses for unknown, revoked and inactive keys are identical. Revoked
 * takes precedence over expired.
 */
export const evaluateKey = (key: KeyCredential | undefined, now: Date): CredentialEvaluation => {
  if (key === undefined) return { outcome: "unknown", response: { found: false } };
  if (key.isRevoked) return { outcome: "revoked", response: { found: false } };
  if (!key.isActive) return { outcome: "inactive", response: { found: false } };
  const isExpired = key.expiresAt !== null && key.expiresAt <= now;
  return {
    outcome: isExpired ? "expired" : getAccountStatus(key),
    response: buildResponse(key, {
      bucketId: key.bucketId,
      scopes: key.scopes,
      expiresAt: key.expiresAt,
      mode: key.mode,
      ...(key.cidrs === null ? {} : { cidrs: key.cidrs }),
      ...(key.requestsPerMinute === null ? {} : { requestsPerMinute: key.requestsPerMinute }),
      ...(key.burst === null ? {} : { burst: key.burst }),
    }),
  };
};

/**
 * Evaluates a session. The response contains its idle or absolute expiry, whichever is earlier. It
 * also lists the enabled methods with which this user can prove presence. Every user can prove
 * presence with a sign-in link from an operator.
 */
export const evaluateSession = (
  session: SessionCredential | undefined,
  { now, enabledMethods }: { now: Date; enabledMethods: readonly SignInMethod[] },
): CredentialEvaluation => {
  if (session === undefined) return { outcome: "unknown", response: { found: false } };
  const { credentialId: bucketId, method, ownMethods: accountMethods, provenAt } = session;
  const expiresAt = getSessionEnd(session, now);
  const availableMethods = enabledMethods.filter(
    (accountMethod) => accountMethod === "link" || accountMethods.includes(accountMethod),
  );
  const presence = { provenAt, methods: availableMethods };
  return {
    outcome: expiresAt <= now ? "expired" : getAccountStatus(session),
    response: buildResponse(session, { bucketId, scopes: [], expiresAt, method, presence }),
  };
};

/**
 * Removes the fields that the requesting service does not need. webhook-dispatcher does not make
 * payments, so it does not receive wallets (rule CALLER-41).
 */
export const restrictResponseFor = (
  service: SessionService,
  response: IntrospectionResponse,
): IntrospectionResponse =>
  service === "webhook-dispatcher" && response.found
    ? { ...response, account: { ...response.account, wallets: [] } }
    : response;

const getAccountStatus = ({ isSuspended }: Account): "valid" | "suspended" =>
  isSuspended === true ? "suspended" : "valid";

type FoundResponse = Extract<IntrospectionResponse, { found: true }>;

const buildResponse = (
  credentialRow: Account & { credentialId: string },
  credentialFields: Omit<FoundResponse["credential"], "id">,
): IntrospectionResponse => ({
  found: true,
  account: {
    id: credentialRow.id,
    version: credentialRow.version,
    handle: credentialRow.handle,
    username: credentialRow.username,
    dateCreated: credentialRow.dateCreated,
    profileImage: credentialRow.profileImage,
    bio: credentialRow.bio,
    backgroundImage: credentialRow.backgroundImage,
    backgroundColour: credentialRow.backgroundColour,
    links: credentialRow.links,
    returnUrl: credentialRow.returnUrl,
    wallets: credentialRow.wallets,
    isSuspended: credentialRow.isSuspended,
    isVerified: credentialRow.isVerified,
  },
  credential: { id: credentialRow.credentialId, ...credentialFields },
});
