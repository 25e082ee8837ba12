import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializePasskey } from "../domain/passkey.ts";
import { listPasskeys as findPasskeys } from "../store/passkeys.ts";

/** GET /console/api/passkeys: lists the account's passkeys, oldest first. */
export const listPasskeys =
  ({ pool }: Dependencies) =>
  async (_req: Request, res: Response, { account }: Caller) => {
    const passkeys = await findPasskeys(pool, account.id);
    sendJson(res, 200, { data: passkeys.map(serializePasskey) });
  };
