import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showIdentity } from "../domain/identity.ts";
import { listIdentities as findIdentities } from "../store/identities.ts";

/** GET /console/api/identities: what can sign in to the account, apart from an operator's link. */
export const listIdentities =
  ({ pool }: Deps) =>
  async (_req: Request, res: Response, { account }: Caller) => {
    const identities = await findIdentities(pool, account.id);
    answerJson(res, 200, { data: identities.map(showIdentity) });
  };
