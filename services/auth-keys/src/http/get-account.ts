import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeAccount } from "../domain/account.ts";
import { getAccount as getStoredAccount } from "../store/accounts.ts";

/**
 * GET /console/api/account and GET /console/api/session: returns the caller's account. Reads it
 * from the database, because the caller's cached copy may be seconds old.
 */
export const getAccount =
  ({ catalogue, pool }: Dependencies) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const account = await getStoredAccount(pool, caller.account.id);
    sendJson(res, 200, serializeAccount(account, catalogue));
  };
