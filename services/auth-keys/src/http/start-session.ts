import type { Request, Response } from "express";
import { SignInBody, hashSecret, invalid, refuse } from "@payment-links/contracts";
import { answerJson, readBody, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { showAccount } from "../domain/account.ts";
import type { SignInMethod } from "../domain/session.ts";
import { lockAccount } from "../store/accounts.ts";
import { redeemSignInToken } from "../store/sign-in-tokens.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { readSiwe } from "./read-siwe.ts";
import { type WhoSignsIn, byIdentity, countSignIn, signIn } from "./sign-in.ts";

/**
 * POST /console/api/session: a one-time sign-in link, or a Sign-In with Ethereum message that this
 * browser asked a nonce for, becomes a session.
 */
export const startSession = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const { token, siwe } = await readBody(req, SignInBody);
  if (siwe === undefined && token === undefined) throw invalid("missing");
  const method: SignInMethod = siwe === undefined ? "link" : "siwe";
  requireMethod(deps, method);
  const account = await countSignIn(deps, method, async () => {
    const who = siwe === undefined ? byLink(token ?? "") : await bySiwe(deps, req, siwe);
    return signIn(deps, { req, res, method, who });
  });
  answerJson(res, 200, showAccount(account));
};

/** The holder of an operator's one-time link, which is used up. */
export const byLink =
  (token: string): WhoSignsIn =>
  async (tx, { now }) => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === undefined) throw refuse("INVALID_SIGN_IN_TOKEN");
    return { account: await lockAccount(tx, accountId) };
  };

const bySiwe = async (
  deps: Deps,
  req: Request,
  siwe: { message: string; signature: string },
): Promise<WhoSignsIn> => {
  const { identity, spend } = await readSiwe(deps, req, siwe);
  const who = byIdentity(deps, identity);
  return async (tx, beginning) => {
    await spend(tx);
    return who(tx, beginning);
  };
};
