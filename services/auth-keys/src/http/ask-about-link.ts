import type { Request, Response } from "express";
import { type Account, SignInLinkQuestion, hashSecret, refuse } from "@payment-links/contracts";
import { answerJson, readBody, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { getAccount } from "../store/accounts.ts";
import { findSignInTokenOwner } from "../store/sign-in-tokens.ts";
import { requireMethod } from "./list-sign-in-methods.ts";

/**
 * POST /console/api/session/link: tells whom a one-time link signs in, so that a page can ask before
 * it does. Whoever opens a link, be it a scanner of mail, uses nothing up.
 */
export const askAboutLink = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const { token } = await readBody(req, SignInLinkQuestion);
  const { handle, username } = await findLinkOwner(deps, token);
  answerJson(res, 200, { handle, username });
};

/** The account that a one-time link signs in to. Throws INVALID_SIGN_IN_TOKEN, ACCOUNT_SUSPENDED. */
export const findLinkOwner = async (
  deps: Pick<Deps, "clock" | "pool" | "signInMethods">,
  token: string,
): Promise<Account> => {
  requireMethod(deps, "link");
  const { clock, pool } = deps;
  const found = { hash: hashSecret(token), now: clock.now() };
  const accountId = await findSignInTokenOwner(pool, found);
  if (accountId === undefined) throw refuse("INVALID_SIGN_IN_TOKEN");
  const account = await getAccount(pool, accountId);
  if (account.isSuspended === true) throw refuse("ACCOUNT_SUSPENDED");
  return account;
};
