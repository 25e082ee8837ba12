import type { Request, Response } from "express";
import {
  type Account,
  body,
  changed,
  hashSecret,
  invalid,
  newId,
  refuse,
  text,
} from "@payment-links/contracts";
import { readBody, readSessionToken, refuseOtherSites, sessionCookie } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { showAccount } from "../domain/account.ts";
import { sessionLifeMs } from "../domain/session.ts";
import { mintToken } from "../domain/token.ts";
import { lockAccount } from "../store/accounts.ts";
import { auditSession } from "../store/audit-log.ts";
import { deleteSessionByHash, insertSession } from "../store/sessions.ts";
import { redeemSignInToken } from "../store/sign-in-tokens.ts";
import { answerJson } from "./answer-json.ts";

const SignInBody = body({
  token: changed(text({ lengthMax: 200 }), { type: "string" }),
  siwe: changed((input) => ({ value: input }), {}),
});

/**
 * POST /console/api/session: a one-time sign-in link becomes a session. Signing in always makes a new
 * one, and the one that the request carried ends: nobody can be signed in with a cookie planted before.
 */
export const startSession = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const { token, siwe } = await readBody(req, SignInBody);
  if (siwe !== undefined) throw refuse("SIGN_IN_METHOD_UNAVAILABLE");
  if (token === undefined) throw invalid("missing");
  const sessionToken = mintToken();
  const formerToken = readSessionToken(req, deps.cookie) ?? "";
  const sessionId = newId("sess");
  const account = await redeem(deps, { token, sessionId, sessionToken, formerToken });
  deps.counters.signedIn("link", account === undefined ? "refused" : "succeeded");
  if (account === undefined) throw refuse("INVALID_SIGN_IN_TOKEN");
  deps.identity.forgetSession(formerToken);
  res.setHeader("Set-Cookie", sessionCookie(deps.cookie, sessionToken, sessionLifeMs / 1000));
  answerJson(res, 200, showAccount(account));
};

type Redemption = {
  token: string;
  sessionId: string;
  sessionToken: string;
  formerToken: string;
};

/** Answers undefined, and changes nothing, where the link is not good or no longer. */
const redeem = (
  { clock, pool }: Deps,
  { token, sessionId, sessionToken, formerToken }: Redemption,
): Promise<Account | undefined> => {
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + sessionLifeMs);
  return pool.transaction(async (tx) => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === null) return undefined;
    const account = await lockAccount(tx, accountId);
    const former = await deleteSessionByHash(tx, hashSecret(formerToken));
    if (former !== null) await auditSession(tx, { ...former, action: "session.ended", now });
    const hash = hashSecret(sessionToken);
    await insertSession(tx, { id: sessionId, accountId, hash, now, expiresAt });
    await auditSession(tx, { id: sessionId, accountId, action: "session.started", now });
    return account;
  });
};
