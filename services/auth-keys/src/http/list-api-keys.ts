import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeApiKey } from "../domain/api-key.ts";
import { listApiKeys as listStoredKeys } from "../store/api-keys.ts";

/**
 * GET /console/api/api-keys: lists the owner's keys, newest first, except revoked keys and replaced
 * keys that have expired.
 */
export const listApiKeys =
  ({ pool, clock }: Dependencies) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const keys = await listStoredKeys(pool, { accountId: caller.account.id, now: clock.now() });
    sendJson(res, 200, { data: keys.map(serializeApiKey) });
  };
