import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeIdentity } from "../domain/identity.ts";
import { listIdentities as findIdentities } from "../store/identities.ts";

/** GET /console/api/identities: lists the identities that can sign in to the account. */
export const listIdentities =
  ({ pool }: Dependencies) =>
  async (_req: Request, res: Response, { account }: Caller) => {
    const identities = await findIdentities(pool, account.id);
    sendJson(res, 200, { data: identities.map(serializeIdentity) });
  };
