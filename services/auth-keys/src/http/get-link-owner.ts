import type { Request, Response } from "express";
import {
  type Account,
  SignInLinkRequest,
  hashSecret,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, readJsonBody, rejectCrossSiteRequest } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { getAccount } from "../store/accounts.ts";
import { findSignInTokenOwner } from "../store/sign-in-tokens.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";

/**
 * POST /console/api/session/link: returns the account that a sign-in link belongs to, so that the
 * page can ask for confirmation. Opening a link, for example by a mail scanner, does not consume
 * it.
 */
export const getLinkOwner = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  rejectCrossSiteRequest(req, dependencies.cookie);
  const { token } = await readJsonBody(req, SignInLinkRequest);
  const { handle, username } = await findLinkOwner(dependencies, token);
  sendJson(res, 200, { handle, username });
};

/**
 * Returns the account that a sign-in link belongs to. Throws INVALID_SIGN_IN_TOKEN or
 * ACCOUNT_SUSPENDED.
 */
export const findLinkOwner = async (
  dependencies: Pick<Dependencies, "clock" | "pool" | "signInMethods">,
  token: string,
): Promise<Account> => {
  requireEnabledMethod(dependencies, "link");
  const { clock, pool } = dependencies;
  const tokenQuery = { hash: hashSecret(token), now: clock.now() };
  const accountId = await findSignInTokenOwner(pool, tokenQuery);
  if (accountId === undefined) throw createApiError("INVALID_SIGN_IN_TOKEN");
  const account = await getAccount(pool, accountId);
  if (account.isSuspended === true) throw createApiError("ACCOUNT_SUSPENDED");
  return account;
};
