import type { Request, Response } from "express";
import { hashSecret, createApiError } from "@payment-links/contracts";
import { createSessionActor, serializeSessionCookies } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { ProvenIdentity } from "../domain/identity.ts";
import type { SignInMethod } from "../domain/session.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockIdentity } from "../store/identities.ts";
import { lockCallerAccount, renewSession } from "../store/sessions.ts";
import { redeemSignInToken } from "../store/sign-in-tokens.ts";
import { generateSessionTokens } from "./generate-session-tokens.ts";
import { recordRejectedSignIn } from "./record-rejected-sign-in.ts";
import { requireConnectedClient } from "./require-connected-client.ts";

/**
 * Resolves the account for which presence was proven, in the transaction that uses the proof.
 * Returns undefined if there is none. Throws an `ApiError` to roll back everything.
 */
export type ResolveAccountId = (tx: Transaction, now: Date) => Promise<string | undefined>;

type PresenceRenewal = {
  req: Request;
  res: Response;
  caller: Caller;
  method: SignInMethod;
  resolveAccountId: ResolveAccountId;
  /** How long ago the user authenticated; 0 by default. */
  authenticationAgeMs?: number;
};

/**
 * Renews the presence of the caller's session with a proof of the same account (rule CALLER-19).
 * The session continues with new tokens, so a copy of its old cookies stops working.
 */
export const renewPresence = async (
  dependencies: Dependencies,
  { req, res, caller, method, resolveAccountId, authenticationAgeMs = 0 }: PresenceRenewal,
): Promise<void> => {
  const { clock, cookie, pool } = dependencies;
  const { account, credential } = caller;
  const { tokens, hashes } = generateSessionTokens(cookie);
  const now = clock.now();
  const actor = createSessionActor(req, credential);
  const expiresAt = await transact(pool, async (tx) => {
    const provenAccountId = await resolveAccountId(tx, now);
    if (provenAccountId !== account.id) throw createApiError("REAUTHENTICATION_MISMATCH");
    await lockCallerAccount(tx, caller);
    const provenAt = new Date(now.getTime() - authenticationAgeMs);
    const sessionExpiresAt = await renewSession(tx, { id: credential.id, hashes, provenAt });
    const auditFields = { at: now, accountId: account.id, actor, targetId: credential.id };
    await insertAudit(tx, {
      ...auditFields,
      action: "session.presence_proven",
      detail: { method },
    });
    requireConnectedClient(res);
    return sessionExpiresAt;
  });
  const remainingSeconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
  res.setHeader("Set-Cookie", serializeSessionCookies(cookie, tokens, remainingSeconds));
};

type PresenceProof = Pick<PresenceRenewal, "req" | "caller" | "method">;

/** Records a rejected proof of presence for the audit log of the caller's account. */
export const recordRejectionOnError = async (
  dependencies: Dependencies,
  { req, caller: { account, credential }, method }: PresenceProof,
  provePresence: () => Promise<void>,
): Promise<void> => {
  try {
    await provePresence();
  } catch (error) {
    const actor = createSessionActor(req, credential);
    const claimedAccount = { by: "account", accountId: account.id } as const;
    recordRejectedSignIn(
      dependencies,
      { action: "session.presence_refused", method, claimedAccount, actor },
      error,
    );
    throw error;
  }
};

/** Returns a resolver for the account of an identity. Creates no account. */
export const createIdentityOwnerResolver =
  (provenIdentity: ProvenIdentity): ResolveAccountId =>
  async (tx) =>
    (await lockIdentity(tx, provenIdentity))?.accountId;

/** Returns a resolver for the account of an operator's sign-in link, which it consumes. */
export const createLinkOwnerResolver =
  (token: string) =>
  async (tx: Transaction, now: Date): Promise<string> => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === undefined) throw createApiError("INVALID_SIGN_IN_TOKEN");
    return accountId;
  };
