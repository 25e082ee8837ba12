import type { Request, Response } from "express";
import {
  type Account,
  type Actor,
  ApiError,
  hashSecret,
  newId,
  createApiError,
} from "@payment-links/contracts";
import { createSessionActor, readSessionToken, serializeSessionCookies } from "@payment-links/http";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { buildAccount } from "../domain/account.ts";
import { describeDevice } from "../domain/device.ts";
import type { ProvenIdentity } from "../domain/identity.ts";
import type { ClaimedAccount } from "../domain/rejected-sign-ins.ts";
import { type SignInMethod, sessionLifetimeMs } from "../domain/session.ts";
import { insertAccount, lockAccount, publishNewAccount } from "../store/accounts.ts";
import { insertAudit, insertAuditForEach } from "../store/audit-log.ts";
import { queueNotification } from "../store/emails.ts";
import { insertIdentity, lockIdentity } from "../store/identities.ts";
import { insertRejectedSignIns } from "../store/rejected-sign-ins.ts";
import { deleteSessionByHash, insertSession } from "../store/sessions.ts";
import { visitorActor } from "./actors.ts";
import { generateSessionTokens } from "./generate-session-tokens.ts";
import { recordRejectedSignIn } from "./record-rejected-sign-in.ts";
import { ClientDisconnectedError, requireConnectedClient } from "./require-connected-client.ts";

/** The session that a sign-in is about to start. */
type SessionStart = { sessionId: string; actor: Actor; now: Date };

/** A sign-in; `authenticationAgeMs` is how long ago the user authenticated, 0 by default. */
type SignInInput = {
  req: Request;
  res: Response;
  method: SignInMethod;
  resolveAccount: ResolveAccount;
  authenticationAgeMs?: number;
};

/**
 * Resolves the account that the session will belong to, in the sign-in's transaction. Throws an
 * `ApiError` to roll back everything.
 */
export type ResolveAccount = (
  tx: Transaction,
  sessionStart: SessionStart,
) => Promise<{ account: Account; identityId?: string }>;

/**
 * Signs a user in and returns the account. Sets the new session's cookies. Ends the session that
 * the request carried, to prevent session fixation.
 */
export const signIn = async (
  dependencies: Dependencies,
  { req, res, method, resolveAccount, authenticationAgeMs = 0 }: SignInInput,
): Promise<Account> => {
  const { tokens, hashes } = generateSessionTokens(dependencies.cookie);
  const sessionId = newId("sess");
  const previousSessionHash = hashSecret(readSessionToken(req, dependencies.cookie) ?? "");
  const now = dependencies.clock.now();
  const actor = createSessionActor(req, { id: sessionId, method });
  const account = await transact(dependencies.pool, async (tx) => {
    const { account: resolvedAccount, identityId } = await resolveAccount(tx, {
      sessionId,
      actor,
      now,
    });
    const accountId = resolvedAccount.id;
    const detail = { method };
    if (resolvedAccount.isSuspended === true) {
      const actor = { ...visitorActor(req), method };
      const rejection = { at: now, actor, reason: "ACCOUNT_SUSPENDED" };
      const attemptFields = { action: "session.refused", method, count: 1 } as const;
      await insertRejectedSignIns(tx, accountId, {
        ...attemptFields,
        firstRejections: [rejection],
        lastRejection: rejection,
      });
      return resolvedAccount;
    }
    await endPreviousSession(tx, { req, hash: previousSessionHash, now });
    const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
    const provenAt = new Date(now.getTime() - authenticationAgeMs);
    const newSession = {
      id: sessionId,
      accountId,
      hashes,
      method,
      identityId,
      device: describeDevice(actor.userAgent),
      now,
      provenAt,
      expiresAt,
    };
    const revokedSessionIds = await insertSession(tx, newSession);
    const startedEvent = { action: "session.started", targetId: sessionId } as const;
    await insertAudit(tx, { at: now, accountId, actor, ...startedEvent, detail });
    await insertAuditForEach(
      tx,
      { at: now, accountId, actor, action: "session.revoked" },
      revokedSessionIds,
    );
    if (dependencies.sendEmail !== undefined) await queueSignInEmail(tx, { accountId, actor, now });
    requireConnectedClient(res);
    return resolvedAccount;
  });
  if (account.isSuspended === true) throw createApiError("ACCOUNT_SUSPENDED");
  dependencies.wakeRelay();
  res.setHeader(
    "Set-Cookie",
    serializeSessionCookies(dependencies.cookie, tokens, sessionLifetimeMs / 1000),
  );
  return account;
};

const queueSignInEmail = async (
  tx: Transaction,
  { accountId, actor, now }: { accountId: string; actor: Actor; now: Date },
): Promise<void> => {
  const { address: ipAddress, method } = actor;
  const signInFields = { method: method ?? "", ipAddress, at: now.toISOString() };
  const content = { type: "new_sign_in", ...signInFields } as const;
  await queueNotification(tx, { id: newId("evt"), accountId, kind: "new_sign_in", content }, now);
};

/** Ends the session that the request carried, if any. */
const endPreviousSession = async (
  tx: Transaction,
  { req, hash, now }: { req: Request; hash: Buffer; now: Date },
): Promise<void> => {
  const previousSession = await deleteSessionByHash(tx, hash);
  if (previousSession === undefined) return;
  await insertAudit(tx, {
    at: now,
    accountId: previousSession.accountId,
    actor: createSessionActor(req, previousSession),
    action: "session.ended",
    targetId: previousSession.id,
  });
};

/**
 * Returns a resolver for the account of a proven identity. The first sign-in creates the account.
 * Throws SIGN_UP_CLOSED if sign-up is not allowed for this method.
 */
export const createIdentityResolver = (
  { signUp }: Pick<Dependencies, "signUp">,
  provenIdentity: ProvenIdentity,
): ResolveAccount => {
  const newAccountId = newId("user");
  const newIdentityId = newId("idn");
  return async (tx, { actor, now }) => {
    const storedIdentity = await lockIdentity(tx, provenIdentity);
    if (storedIdentity !== undefined) {
      return {
        account: await lockAccount(tx, storedIdentity.accountId),
        identityId: storedIdentity.id,
      };
    }
    const { method, issuer, subject, username } = provenIdentity;
    if (signUp !== "open" && signUp !== method) throw createApiError("SIGN_UP_CLOSED");
    const newAccountFields = { id: newAccountId, handle: null, username, isVerified: false, now };
    const account = buildAccount(newAccountFields);
    const accountId = account.id;
    await insertAccount(tx, account);
    await insertIdentity(tx, { ...provenIdentity, id: newIdentityId, accountId, dateCreated: now });
    const auditFields = { at: now, accountId, actor };
    await insertAudit(tx, {
      ...auditFields,
      action: "account.created",
      detail: { handle: null, username },
    });
    const linkedEvent = { action: "identity.linked", targetId: newIdentityId } as const;
    await insertAudit(tx, { ...auditFields, ...linkedEvent, detail: { method, issuer, subject } });
    await publishNewAccount(tx, account);
    return { account, identityId: newIdentityId };
  };
};

type SignInAttempt = {
  req: Request;
  method: SignInMethod;
  /**
   * The account that the attempt claims. It is not verified, and undefined if the attempt claims
   * none.
   */
  claimedAccount: ClaimedAccount | undefined;
};

/** Counts a sign-in attempt by its outcome, and records a rejected one for the audit log. */
export const countSignIn = async <Result>(
  dependencies: Dependencies,
  { req, method, claimedAccount }: SignInAttempt,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const { counters } = dependencies;
  try {
    const result = await attempt();
    counters.countSignIn(method, "succeeded");
    return result;
  } catch (error) {
    counters.countSignIn(method, classifyOutcome(error));
    if (claimedAccount !== undefined) {
      const actor = { ...visitorActor(req), method };
      recordRejectedSignIn(
        dependencies,
        { action: "session.refused", method, claimedAccount, actor },
        error,
      );
    }
    throw error;
  }
};

const classifyOutcome = (error: unknown): "left" | "refused" | "failed" => {
  if (error instanceof ClientDisconnectedError) return "left";
  return error instanceof ApiError && error.status < 500 ? "refused" : "failed";
};
