import type { Request, Response } from "express";
import {
  type Account,
  type Actor,
  Refusal,
  hashSecret,
  newId,
  refuse,
} from "@payment-links/contracts";
import { personActor, readSessionToken, sessionCookies } from "@payment-links/http";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { openAccount } from "../domain/account.ts";
import type { ProvenIdentity } from "../domain/identity.ts";
import type { Claim } from "../domain/refusals.ts";
import { type SignInMethod, sessionLifeMs } from "../domain/session.ts";
import { insertAccount, lockAccount, publishNewAccount } from "../store/accounts.ts";
import { insertAudit, insertAuditOfEach } from "../store/audit-log.ts";
import { insertIdentity, lockIdentity } from "../store/identities.ts";
import { insertRefusals } from "../store/refusals.ts";
import { deleteSessionByHash, insertSession } from "../store/sessions.ts";
import { visitorActor } from "./actors.ts";
import { mintSession } from "./mint-session.ts";
import { noteRefusal } from "./note-refusal.ts";
import { ListenerLeft, requireListener } from "./require-listener.ts";

/** The session that a sign-in is about to begin. */
type Beginning = { sessionId: string; actor: Actor; now: Date };

/** A sign-in by a request; `ageMs` is how long ago the person proved who they are. */
type SignIn = {
  req: Request;
  res: Response;
  method: SignInMethod;
  who: WhoSignsIn;
  ageMs?: number;
};

/**
 * Tells whose session it becomes, in the sign-in's transaction. It throws a refusal to undo
 * everything.
 */
export type WhoSignsIn = (
  tx: Transaction,
  beginning: Beginning,
) => Promise<{ account: Account; identityId?: string }>;

/**
 * Signs a person in. The answer carries the new session's cookies, and the session that the request
 * carried ends, so that nobody can sign in with a cookie that was planted before. Answers the
 * account.
 */
export const signIn = async (
  deps: Deps,
  { req, res, method, who, ageMs = 0 }: SignIn,
): Promise<Account> => {
  const { tokens, hashes } = mintSession(deps.cookie);
  const sessionId = newId("sess");
  const formerHash = hashSecret(readSessionToken(req, deps.cookie) ?? "");
  const now = deps.clock.now();
  const actor = personActor(req, { id: sessionId, method });
  const account = await transact(deps.pool, async (tx) => {
    const { account: found, identityId } = await who(tx, { sessionId, actor, now });
    const accountId = found.id;
    const detail = { method };
    if (found.isSuspended === true) {
      const actor = { ...visitorActor(req), method };
      const refusal = { at: now, actor, reason: "ACCOUNT_SUSPENDED" };
      const refused = { action: "session.refused", method, count: 1 } as const;
      await insertRefusals(tx, accountId, { ...refused, first: [refusal], last: refusal });
      return found;
    }
    await endFormer(tx, { req, hash: formerHash, now });
    const expiresAt = new Date(now.getTime() + sessionLifeMs);
    const provenAt = new Date(now.getTime() - ageMs);
    const begun = {
      id: sessionId,
      accountId,
      hashes,
      method,
      identityId,
      now,
      provenAt,
      expiresAt,
    };
    const ended = await insertSession(tx, begun);
    const started = { action: "session.started", targetId: sessionId } as const;
    await insertAudit(tx, { at: now, accountId, actor, ...started, detail });
    await insertAuditOfEach(tx, { at: now, accountId, actor, action: "session.revoked" }, ended);
    requireListener(res);
    return found;
  });
  if (account.isSuspended === true) throw refuse("ACCOUNT_SUSPENDED");
  deps.wakeRelay();
  res.setHeader("Set-Cookie", sessionCookies(deps.cookie, tokens, sessionLifeMs / 1000));
  return account;
};

/** Ends the session that the request carried, if it did. */
const endFormer = async (
  tx: Transaction,
  { req, hash, now }: { req: Request; hash: Buffer; now: Date },
): Promise<void> => {
  const former = await deleteSessionByHash(tx, hash);
  if (former === undefined) return;
  await insertAudit(tx, {
    at: now,
    accountId: former.accountId,
    actor: personActor(req, former),
    action: "session.ended",
    targetId: former.id,
  });
};

/**
 * A person with a proven identity signs in to its account, which is opened at the first time. Throws
 * SIGN_UP_CLOSED where no account is opened for such a person.
 */
export const byIdentity = (
  { signUp }: Pick<Deps, "signUp">,
  proven: ProvenIdentity,
): WhoSignsIn => {
  const newAccountId = newId("user");
  const newIdentityId = newId("idn");
  return async (tx, { actor, now }) => {
    const known = await lockIdentity(tx, proven);
    if (known !== undefined) {
      return { account: await lockAccount(tx, known.accountId), identityId: known.id };
    }
    const { method, issuer, subject, username } = proven;
    if (signUp !== "open" && signUp !== method) throw refuse("SIGN_UP_CLOSED");
    const opening = { id: newAccountId, handle: null, username, isVerified: false, now };
    const account = openAccount(opening);
    const accountId = account.id;
    await insertAccount(tx, account);
    await insertIdentity(tx, { ...proven, id: newIdentityId, accountId, dateCreated: now });
    const entry = { at: now, accountId, actor };
    await insertAudit(tx, {
      ...entry,
      action: "account.created",
      detail: { handle: null, username },
    });
    const linked = { action: "identity.linked", targetId: newIdentityId } as const;
    await insertAudit(tx, { ...entry, ...linked, detail: { method, issuer, subject } });
    await publishNewAccount(tx, account);
    return { account, identityId: newIdentityId };
  };
};

type Tried = {
  req: Request;
  method: SignInMethod;
  /** To whom the attempt leads by what it says; undefined where that is nobody. */
  claim: Claim | undefined;
};

/** Counts an attempt to sign in by its outcome, and notes it for the audit log if it is refused. */
export const countSignIn = async <Answer>(
  deps: Deps,
  { req, method, claim }: Tried,
  attempt: () => Promise<Answer>,
): Promise<Answer> => {
  const { counters } = deps;
  try {
    const answer = await attempt();
    counters.signedIn(method, "succeeded");
    return answer;
  } catch (error) {
    counters.signedIn(method, outcomeOf(error));
    if (claim !== undefined) {
      const actor = { ...visitorActor(req), method };
      noteRefusal(deps, { action: "session.refused", method, claim, actor }, error);
    }
    throw error;
  }
};

const outcomeOf = (error: unknown): "left" | "refused" | "failed" => {
  if (error instanceof ListenerLeft) return "left";
  return error instanceof Refusal && error.status < 500 ? "refused" : "failed";
};
