import type { Request, Response } from "express";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showApiKey } from "../domain/api-key.ts";
import { listApiKeys as listStoredKeys } from "../store/api-keys.ts";
import { answerJson } from "./answer-json.ts";

/** GET /console/api/api-keys: the owner's keys that are not revoked, newest first. */
export const listApiKeys =
  ({ pool }: Deps) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const keys = await listStoredKeys(pool, caller.account.id);
    answerJson(res, 200, { data: keys.map(showApiKey) });
  };
