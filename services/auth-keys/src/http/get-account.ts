import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAccount } from "../domain/account.ts";
import { getAccount as getStoredAccount } from "../store/accounts.ts";

/**
 * GET /console/api/account, and GET /console/api/session: the signed-in person's own account, read
 * afresh because the caller's copy may be seconds old.
 */
export const getAccount =
  ({ pool }: Deps) =>
  async (_req: Request, res: Response, caller: Caller) => {
    answerJson(res, 200, showAccount(await getStoredAccount(pool, caller.account.id)));
  };
