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
 * Tells whose account was proven, in the transaction that counts it. It throws a refusal to undo
 * everything; undefined is nobody's.
 */
export type ResolveAccountId = (tx: Transaction, now: Date) => Promise<string | undefined>;

type PresenceRenewal = {
  req: Request;
  res: Response;
  caller: Caller;
  method: SignInMethod;
  resolveAccountId: ResolveAccountId;
  /** How long ago the person proved who they are; now, where not given. */
  authenticationAgeMs?: number;
};

/**
 * Renews the presence of the caller's session, by a proof of the same account and no other (rule
 * CALLER-19). The session goes on under other tokens: a copy of its cookies that somebody took must
 * not be lifted with it.
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

/** Notes a proof of presence that is refused for the audit log of the signed-in person's account. */
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

/** The account that an identity signs in to, if there is one; none is opened. */
export const createIdentityOwnerResolver =
  (provenIdentity: ProvenIdentity): ResolveAccountId =>
  async (tx) =>
    (await lockIdentity(tx, provenIdentity))?.accountId;

/** The account of an operator's one-time link, which is used up. */
export const createLinkOwnerResolver =
  (token: string) =>
  async (tx: Transaction, now: Date): Promise<string> => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === undefined) throw createApiError("INVALID_SIGN_IN_TOKEN");
    return accountId;
  };
