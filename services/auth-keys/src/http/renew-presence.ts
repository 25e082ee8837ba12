import type { Request, Response } from "express";
import { hashSecret, refuse } from "@payment-links/contracts";
import { personActor, sessionCookies } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { ProvenIdentity } from "../domain/identity.ts";
import type { SignInMethod } from "../domain/session.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockIdentity } from "../store/identities.ts";
import { lockCallersAccount, renewSession } from "../store/sessions.ts";
import { redeemSignInToken } from "../store/sign-in-tokens.ts";
import { mintSession } from "./mint-session.ts";
import { noteRefusal } from "./note-refusal.ts";
import { requireListener } from "./require-listener.ts";

/**
 * Tells whose account was proven, in the transaction that counts it. It throws a refusal to undo
 * everything; undefined is nobody's.
 */
export type WhoIsThere = (tx: Transaction, now: Date) => Promise<string | undefined>;

type Renewal = {
  req: Request;
  res: Response;
  caller: Caller;
  method: SignInMethod;
  who: WhoIsThere;
  /** How long ago the person proved who they are; now, where not given. */
  ageMs?: number;
};

/**
 * Renews the presence of the caller's session, by a proof of the same account and no other (rule
 * CALLER-19). The session goes on under other tokens: a copy of its cookies that somebody took must
 * not be lifted with it.
 */
export const renewPresence = async (
  deps: Deps,
  { req, res, caller, method, who, ageMs = 0 }: Renewal,
): Promise<void> => {
  const { clock, cookie, pool } = deps;
  const { account, credential } = caller;
  const { tokens, hashes } = mintSession(cookie);
  const now = clock.now();
  const actor = personActor(req, credential);
  const expiresAt = await transact(pool, async (tx) => {
    const provenId = await who(tx, now);
    if (provenId !== account.id) throw refuse("REAUTHENTICATION_MISMATCH");
    await lockCallersAccount(tx, caller);
    const provenAt = new Date(now.getTime() - ageMs);
    const end = await renewSession(tx, { id: credential.id, hashes, provenAt });
    const entry = { at: now, accountId: account.id, actor, targetId: credential.id };
    await insertAudit(tx, { ...entry, action: "session.presence_proven", detail: { method } });
    requireListener(res);
    return end;
  });
  const leftSeconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
  res.setHeader("Set-Cookie", sessionCookies(cookie, tokens, leftSeconds));
};

type Proof = Pick<Renewal, "req" | "caller" | "method">;

/** Notes a proof of presence that is refused for the audit log of the signed-in person's account. */
export const notingRefusal = async (
  deps: Deps,
  { req, caller: { account, credential }, method }: Proof,
  prove: () => Promise<void>,
): Promise<void> => {
  try {
    await prove();
  } catch (error) {
    const actor = personActor(req, credential);
    const claim = { by: "account", accountId: account.id } as const;
    noteRefusal(deps, { action: "session.presence_refused", method, claim, actor }, error);
    throw error;
  }
};

/** The account that an identity signs in to, if there is one; none is opened. */
export const ownerOf =
  (proven: ProvenIdentity): WhoIsThere =>
  async (tx) =>
    (await lockIdentity(tx, proven))?.accountId;

/** The account of an operator's one-time link, which is used up. */
export const ownerOfLink =
  (token: string) =>
  async (tx: Transaction, now: Date): Promise<string> => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === undefined) throw refuse("INVALID_SIGN_IN_TOKEN");
    return accountId;
  };
